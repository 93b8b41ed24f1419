/** An operator's name with its colour, cut when long. It links to the operator's page when the key is known. */
import { short } from "../format.ts";
import { operatorColour } from "../palette.ts";
import { operatorAddress } from "../route.ts";

export function Swatch({ colour }: { readonly colour: string }) {
  return <span class="swatch" style={{ background: colour }} aria-hidden="true" />;
}

export function OperatorName({ name, of }: { readonly name: string; readonly of: string | null }) {
  const text = <bdi>{short(name, 120)}</bdi>;
  if (of === null) return <span class="operator-name">{text}</span>;
  return (
    <a class="operator-name" href={operatorAddress(of)} title={short(name, 1000)}>
      <Swatch colour={operatorColour(of)} />
      {text}
    </a>
  );
}
