/**
 * Column types that users declare, checked when the method is called. An error names the operator, the column and the
 * text that is not a type.
 */
import { type DataType, parseTypeName } from "../arrow/index.ts";
import { OptionError } from "../errors/index.ts";
import { checkText, checkTypeName } from "../plan/index.ts";

interface DeclaredColumn {
  readonly name: string;
  /** As the user wrote it. */
  readonly text: string;
  readonly type: DataType;
}

export function declaredColumns(operator: string, schema: Readonly<Record<string, string>>): readonly DeclaredColumn[] {
  return Object.entries(schema).map(([given, type]) => {
    const name = checkText(given, `${operator}: schema`);
    const text = checkTypeName(type, `${operator}: schema.${name}`);
    return { name, text, type: parsed(text, `${operator}: schema.${name}`) };
  });
}

function parsed(text: string, where: string): DataType {
  try {
    return parseTypeName(text);
  } catch (error) {
    throw error instanceof OptionError ? new OptionError(`${where}: ${error.message}`) : error;
  }
}
