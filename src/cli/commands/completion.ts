/** `spillway completion bash`: completes commands, their options, and the names of sessions. */
import { Argument, type Command, type Option } from "commander";
import { wholeProgram } from "../program.ts";
import { say } from "../terminal.ts";

const EXAMPLES = `
Examples:
  spillway completion bash > ~/.local/share/bash-completion/completions/spillway
  spillway completion zsh > "\${fpath[1]}/_spillway"
  spillway completion fish > ~/.config/fish/completions/spillway.fish
`;

const SHELLS = { bash, zsh, fish } as const;

export function define(command: Command): void {
  command
    .addArgument(new Argument("<shell>", "").choices(Object.keys(SHELLS)))
    .addHelpText("after", EXAMPLES)
    .action(async (shell: keyof typeof SHELLS) => say(SHELLS[shell]((await wholeProgram()).commands)));
}

/** Lists session names, one per line. */
const NAMES = "spillway sessions --names 2>/dev/null";

function bash(commands: readonly Command[]): string {
  const cases = commands.map((command) => `    ${command.name()}) options="${flags(command).join(" ")}" ;;`);
  const choices = withChoices(commands).map(
    ([name, words]) => `    ${name}) COMPREPLY=($(compgen -W "${words.join(" ")}" -- "$word")) ;;`,
  );
  return `# Completion of spillway for bash.
_spillway() {
  local word="\${COMP_WORDS[COMP_CWORD]}" options=""
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${commands.map((command) => command.name()).join(" ")} --help --version" -- "$word"))
    return
  fi
  case "\${COMP_WORDS[1]}" in
${cases.join("\n")}
  esac
  if [ "\${word#-}" != "$word" ]; then
    COMPREPLY=($(compgen -W "$options --help" -- "$word"))
    return
  fi
  case "\${COMP_WORDS[1]}" in
    ${withSession(commands).join("|")}) COMPREPLY=($(compgen -W "$(${NAMES})" -- "$word")) ;;
${choices.join("\n")}
    *) COMPREPLY=($(compgen -f -- "$word")) ;;
  esac
}
complete -o default -F _spillway spillway
`;
}

function zsh(commands: readonly Command[]): string {
  const quoted = (text: string) => text.replaceAll("'", "'\\''");
  const choices = new Map(withChoices(commands));
  const named = commands.map((command) => `    '${command.name()}:${quoted(command.description())}'`);
  const cases = commands.map((command) => {
    const options = shown(command).map(
      (option) => `'${option.long}[${quoted(option.description).replace(/[[\]]/g, "")}]'`,
    );
    const rest = withSession(commands).includes(command.name())
      ? "'1:session:_spillway_sessions'"
      : choices.has(command.name())
        ? `'1:word:(${choices.get(command.name())?.join(" ")})'`
        : "'*:file:_files'";
    return `    ${command.name()}) _arguments ${[...options, rest].join(" ")} ;;`;
  });
  return `#compdef spillway
_spillway_sessions() { compadd -- \${(f)"$(${NAMES})"} }
_spillway() {
  local -a commands=(
${named.join("\n")}
  )
  if (( CURRENT == 2 )); then _describe command commands; return; fi
  local name="$words[2]"
  shift words; (( CURRENT-- ))
  case "$name" in
${cases.join("\n")}
  esac
}
# In a directory of fpath, zsh runs this file at the first Tab, in place of the function.
if [[ "$funcstack[1]" == _spillway ]]; then _spillway "$@"; else compdef _spillway spillway; fi
`;
}

function fish(commands: readonly Command[]): string {
  const quoted = (text: string) => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
  const lines = commands.flatMap((command) => {
    const seen = `-n '__fish_seen_subcommand_from ${command.name()}'`;
    const named = `complete -c spillway -n __fish_use_subcommand -f -a ${command.name()} -d ${quoted(command.description())}`;
    const options = shown(command).map((option) => {
      const value = option.required ? " -r" : "";
      return `complete -c spillway ${seen} -l ${option.long?.slice(2)}${value} -d ${quoted(option.description)}`;
    });
    return [named, ...options];
  });
  const sessions = `complete -c spillway -n '__fish_seen_subcommand_from ${withSession(commands).join(" ")}' -f -a '(${NAMES})'`;
  const choices = withChoices(commands).map(
    ([name, words]) => `complete -c spillway -n '__fish_seen_subcommand_from ${name}' -f -a '${words.join(" ")}'`,
  );
  return `# Completion of spillway for fish.\n${[...lines, sessions, ...choices].join("\n")}\n`;
}

/** Options to complete, including settings, which only the help hides. Each setting appears in one spelling. */
function shown(command: Command): readonly Option[] {
  return command.options.filter(({ hidden, long, description }) => {
    return !hidden || (description !== "" && !/[A-Z]/.test(long ?? ""));
  });
}

function flags(command: Command): string[] {
  return shown(command).flatMap(({ long }) => long ?? []);
}

/** Names of commands with the words that their first argument may be. */
function withChoices(commands: readonly Command[]): (readonly [string, readonly string[]])[] {
  return commands.flatMap((command) => {
    const choices = command.registeredArguments[0]?.argChoices;
    return choices === undefined ? [] : [[command.name(), choices] as const];
  });
}

function withSession(commands: readonly Command[]): string[] {
  return commands
    .filter((command) => command.registeredArguments.some((argument) => argument.name() === "session"))
    .map((command) => command.name());
}
