/** Fills an empty place: it says what would be here, or which error occurred. */
import type { ComponentChildren } from "preact";

export function Empty({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children !== undefined && <p>{children}</p>}
    </div>
  );
}

export function Failure({ what, error }: { readonly what: string; readonly error: string }) {
  return (
    <p class="failure" role="alert">
      {what} could not be shown: {error}
    </p>
  );
}

export function Waiting({ what }: { readonly what: string }) {
  return (
    <p class="waiting" role="status">
      Waiting for {what} …
    </p>
  );
}
