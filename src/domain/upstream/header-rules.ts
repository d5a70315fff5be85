/** Headers that gateways set, add or remove, towards a service or towards clients. Values are fixed texts. */
import { Part, Type, type ShapeOf } from '#base/shapes';
import { reservedHeaderReason } from './reserved-header-table.ts';

const MAX_RULES = 50;
/** The limit for all rules of one direction keeps heads below the limits of services. */
const MAX_RULE_CHARS = 8_192;
const MAX_NAME = 100;
const MAX_VALUE = 4_096;
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Visible characters of ASCII with spaces and tabs between them, so that every service reads the same. */
const VALUE = /^[!-~](?:[\t -~]*[!-~])?$/;

const headerRuleSchema = Part.closed({
  action: Type.Unsafe<'set' | 'add' | 'remove'>({
    type: 'string',
    enum: ['set', 'add', 'remove'],
    description: '`set` replaces all lines of the name, `add` adds a line, `remove` removes all lines',
  }),
  name: Type.String({ minLength: 1, maxLength: MAX_NAME, description: 'Name of the header' }),
  value: Type.Optional(
    Type.String({ maxLength: MAX_VALUE, description: 'Value; absent for `remove`. It is shown to readers' }),
  ),
});
export type HeaderRule = ShapeOf<typeof headerRuleSchema>;

export const headerRules = (description: string) =>
  Type.Array(headerRuleSchema, { maxItems: MAX_RULES, description });

/** Returns the rule of a text: `Name: value` sets, `+Name: value` adds, and `-Name` removes a header. It is not checked yet. */
export function parseHeaderRule(text: string): HeaderRule | undefined {
  const [, sign = '', name = '', colon, value = ''] =
    /^([+-]?)([^:\s]+)\s*(?:(:)\s*(.*))?$/s.exec(text) ?? [];
  if (name === '' || (sign === '-') === (colon !== undefined)) return undefined;
  return sign === '-' ? { action: 'remove', name } : { action: sign === '+' ? 'add' : 'set', name, value };
}

/** Returns the place in the list and the rule that it breaks, of the first rule that is wrong. */
export function headerRuleProblem(
  rules: readonly HeaderRule[],
): { readonly place: string; readonly rule: string } | undefined {
  const set = new Set<string>();
  let chars = 0;
  for (const [at, { action, name, value }] of rules.entries()) {
    const rule = nameRule(action, name, set);
    if (rule !== undefined) return { place: `${at}.name`, rule };
    set.add(`${action} ${name.toLowerCase()}`);
    if ((value === undefined) !== (action === 'remove'))
      return {
        place: `${at}.value`,
        rule: action === 'remove' ? 'absent (remove has no value)' : 'header value',
      };
    if (value !== undefined && !VALUE.test(value))
      return { place: `${at}.value`, rule: 'header value (visible ASCII, no line breaks)' };
    chars += name.length + (value?.length ?? 0);
  }
  return chars > MAX_RULE_CHARS
    ? { place: '', rule: `list of at most ${MAX_RULE_CHARS} characters` }
    : undefined;
}

function nameRule(action: HeaderRule['action'], name: string, seen: ReadonlySet<string>): string | undefined {
  if (!NAME.test(name)) return 'header name (letters, digits and -)';
  const reason = reservedHeaderReason(name);
  if (reason !== undefined) return `name of another header (${name}: ${reason})`;
  return action !== 'add' && seen.has(`${action} ${name.toLowerCase()}`)
    ? 'name that is given once'
    : undefined;
}
