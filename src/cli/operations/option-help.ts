/** Help text of an option, in one order everywhere: its description, whether it is needed, an example. */

export interface OptionHelp {
  readonly description: string;
  readonly isRequired?: boolean;
  readonly isRepeated?: boolean;
  /** Its id and its name are taken alike. */
  readonly named?: string;
  readonly example?: string;
  readonly note?: string;
}

export function optionHelp({
  description,
  isRequired,
  isRepeated,
  named,
  example,
  note,
}: OptionHelp): string {
  return [
    decapital(description.replaceAll('`', '')),
    ...(named === undefined ? [] : [`the id or name of ${/^[aeiou]/i.test(named) ? 'an' : 'a'} ${named}`]),
    ...(isRequired === true ? ['needed'] : []),
    ...(isRepeated === true ? ['may be repeated'] : []),
    ...(note === undefined ? [] : [note]),
    ...(example === undefined ? [] : [`for example ${example}`]),
  ].join('; ');
}

/** Help begins small everywhere, but for names such as HTTP. */
export function decapital(text: string): string {
  return /^[A-Z][a-z' ]/.test(text) ? text[0]!.toLowerCase() + text.slice(1) : text;
}
