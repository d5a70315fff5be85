/** The help text of an option, in a fixed order: description, default or requirement, example. */

export interface OptionHelp {
  readonly description: string;
  readonly isRequired?: boolean | undefined;
  readonly isRepeated?: boolean | undefined;
  /** The noun of a resource that may be given by its id or by its name. */
  readonly named?: string | undefined;
  readonly example?: string | undefined;
  readonly note?: string | undefined;
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
    ...(named === undefined ? [] : [`the ID or name of ${/^[aeiou]/i.test(named) ? 'an' : 'a'} ${named}`]),
    ...(isRequired === true ? ['needed'] : []),
    ...(isRepeated === true ? ['may be repeated'] : []),
    ...(note === undefined ? [] : [note]),
    ...(example === undefined ? [] : [`for example ${example}`]),
  ].join('; ');
}

/** Help texts begin in lower case, except for names such as HTTP. */
export function decapital(text: string): string {
  return /^[A-Z][a-z' ]/.test(text) ? text[0]!.toLowerCase() + text.slice(1) : text;
}
