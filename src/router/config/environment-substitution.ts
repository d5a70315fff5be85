/** Matches a name in braces, a plain name, one of the shell's one-character names, or an unclosed brace. */
const VARIABLE = /\$(?:\{([^}]*)\}|(\d|[A-Za-z_][A-Za-z0-9_]*|[*#$@!?-])|\{)/g;

/**
 * Substitutes `$NAME` and `${NAME}` like OpenZiti's routers: an unset name becomes empty; there are no escapes and no
 * default values.
 */
export function substituteEnvironment(
  text: string,
  environment: Readonly<Record<string, string | undefined>>,
): string {
  return text.replace(VARIABLE, (_all, braced?: string, plain?: string) => {
    const name = braced ?? plain ?? '';
    return Object.hasOwn(environment, name) ? (environment[name] ?? '') : '';
  });
}
