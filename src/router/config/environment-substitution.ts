/** A name between braces, a plain name, one of the shell's one-character names, or a brace that is never closed. */
const VARIABLE = /\$(?:\{([^}]*)\}|(\d|[A-Za-z_][A-Za-z0-9_]*|[*#$@!?-])|\{)/g;

/** `$NAME` and `${NAME}`, as OpenZiti's routers do it: an unset name becomes nothing, there is no escape and no default. */
export function substituteEnvironment(
  text: string,
  environment: Readonly<Record<string, string | undefined>>,
): string {
  return text.replace(VARIABLE, (_all, braced?: string, plain?: string) => {
    const name = braced ?? plain ?? '';
    return Object.hasOwn(environment, name) ? (environment[name] ?? '') : '';
  });
}
