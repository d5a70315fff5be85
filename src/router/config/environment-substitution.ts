/** A name between braces, a plain name, one of the shell's one-character names, or a brace that is never closed. */
const VARIABLE = /\$(?:\{([^}]*)\}|(\d|[A-Za-z_][A-Za-z0-9_]*|[*#$@!?-])|\{)/g;

/**
 * `$NAME` and `${NAME}` in string values, keys left alone, as OpenZiti's routers do it: an unset name becomes nothing,
 * there is no escape and no default.
 */
export function substituteEnvironment(
  value: unknown,
  environment: Readonly<Record<string, string | undefined>>,
): unknown {
  if (typeof value === 'string') {
    return value.replace(VARIABLE, (_all, braced?: string, plain?: string) => {
      return environment[braced ?? plain ?? ''] ?? '';
    });
  }
  if (Array.isArray(value)) return value.map((item) => substituteEnvironment(item, environment));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, substituteEnvironment(item, environment)]),
  );
}
