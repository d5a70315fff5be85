/**
 * Completion scripts for three shells. Bash and zsh find the command in the typed words by themselves, so that no
 * program is started while a person types; fish gets each command with its condition.
 */
import type { CompletionNode, CompletionOption } from './completion-tree.ts';

export type Shell = 'bash' | 'zsh' | 'fish';

export function completionScript(shell: Shell, tree: readonly CompletionNode[]): string {
  if (shell === 'bash') return bashScript(tree);
  return shell === 'zsh' ? zshScript(tree) : fishScript(tree);
}

/** Quotes a text for a shell. Our names contain no quotes, and descriptions are escaped. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

function bashScript(tree: readonly CompletionNode[]): string {
  return `# bash completion of frontdoor
${lookups(tree)}_frontdoor() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" path='' word index
  for ((index = 1; index < COMP_CWORD; index += 1)); do
    word="\${COMP_WORDS[index]}"
    case " $(_frontdoor_words "$path") " in
      *" $word "*) path="\${path:+$path }$word" ;;
    esac
  done
  local candidates
  candidates="$(_frontdoor_values "$path $previous")"
  case $? in
    0) ;;
    2) COMPREPLY=(); return ;;
    3) mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    *)
      if [[ "$current" == -* ]]; then candidates="$(_frontdoor_options "$path")"
      else candidates="$(_frontdoor_words "$path")"; fi
      if [ -z "$candidates" ]; then mapfile -t COMPREPLY < <(compgen -f -- "$current"); return; fi
      ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "$candidates" -- "$current")
}
complete -o filenames -F _frontdoor frontdoor
`;
}

function zshScript(tree: readonly CompletionNode[]): string {
  return `#compdef frontdoor
# zsh completion of frontdoor
${lookups(tree)}_frontdoor() {
  local current="\${words[CURRENT]}" previous="\${words[CURRENT-1]}" route='' word candidates
  integer index
  for ((index = 2; index < CURRENT; index += 1)); do
    word="\${words[index]}"
    if [[ " $(_frontdoor_words "$route") " == *" $word "* ]]; then route="\${route:+$route }$word"; fi
  done
  candidates="$(_frontdoor_values "$route $previous")"
  case $? in
    0) ;;
    2) return ;;
    3) _files; return ;;
    *)
      if [[ "$current" == -* ]]; then candidates="$(_frontdoor_options "$route")"
      else candidates="$(_frontdoor_words "$route")"; fi
      if [[ -z "$candidates" ]]; then _files; return; fi
      ;;
  esac
  compadd -- \${=candidates}
}
compdef _frontdoor frontdoor
`;
}

/** Functions of bash and zsh that print the words that can follow a command. */
function lookups(tree: readonly CompletionNode[]): string {
  return `_frontdoor_words() {
  case "$1" in
${cases(tree, ({ commands }) => commands.map(({ name }) => name).join(' '))}
  esac
}
_frontdoor_options() {
  case "$1" in
${cases(tree, ({ options }) => options.map(({ flag }) => flag).join(' '))}
  esac
}
_frontdoor_values() {
  case "$1" in
${valueCases(tree)}
    *) return 1 ;;
  esac
}
`;
}

function cases(tree: readonly CompletionNode[], wordsOf: (node: CompletionNode) => string): string {
  return tree
    .filter((node) => wordsOf(node) !== '')
    .map((node) => `    ${quoted(node.path)}) printf %s ${quoted(wordsOf(node))} ;;`)
    .join('\n');
}

/** Completions of an option's value: its choices, status 2 for any text, or status 3 for a file. */
function valueCases(tree: readonly CompletionNode[]): string {
  return tree
    .flatMap(({ path, options }) => {
      const arm = (value: CompletionOption['value'], action: string): string[] => {
        const names = options
          .filter((option) => option.value === value)
          .map(({ flag }) => quoted(`${path} ${flag}`));
        return names.length === 0 ? [] : [`    ${names.join('|')}) ${action} ;;`];
      };
      const chosen = options
        .filter(({ value }) => value === 'choice')
        .map(
          ({ flag, choices }) =>
            `    ${quoted(`${path} ${flag}`)}) printf %s ${quoted(choices.join(' '))} ;;`,
        );
      return [...chosen, ...arm('text', 'return 2'), ...arm('file', 'return 3')];
    })
    .join('\n');
}

function fishScript(tree: readonly CompletionNode[]): string {
  const lines = tree.flatMap(({ path, commands, options }) => {
    const when = `-n ${quoted(`__frontdoor_at ${path}`)}`;
    return [
      ...commands.map(
        ({ name, description }) =>
          `complete -c frontdoor -f ${when} -a ${quoted(name)} -d ${quoted(description)}`,
      ),
      ...options.map((option) => `complete -c frontdoor ${when} ${fishOption(option)}`),
    ];
  });
  return `# fish completion of frontdoor
function __frontdoor_at
    set -l route
    for word in (commandline -opc)[2..-1]
        string match -q -- '-*' $word; and continue
        contains -- "$route $word" $__frontdoor_routes; and set route "$route $word"
    end
    set -l wanted
    test -n "$argv"; and set wanted " $argv"
    test "$route" = "$wanted"
end
set -g __frontdoor_routes ${tree
    .filter(({ path }) => path !== '')
    .map(({ path }) => quoted(` ${path}`))
    .join(' ')}
${lines.join('\n')}
`;
}

function fishOption({ flag, description, value, choices }: CompletionOption): string {
  const name = flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`;
  const values = { none: '', choice: ` -x -a ${quoted(choices.join(' '))}`, text: ' -x', file: ' -r' }[value];
  return `${name}${values} -d ${quoted(description)}`;
}
