/** Settings and secrets of a DNS provider: what a row declares, and how the values of the command line are checked by it. */
import { isAbsolute } from 'node:path';
import { FrontdoorError, misspelledName, Secret } from '#base';
import { readPrivateFile } from '#net/files';

export interface SettingRow {
  readonly isRequired?: boolean;
  readonly description: string;
  readonly example: string;
  /** The end of a sentence that begins with the name of the setting; undefined for a good value. */
  readonly problem?: (value: string) => string | undefined;
}

export interface SecretRow {
  /** The setting with the path of a file that holds it; the path is absolute, so that each process reads the same file. */
  readonly fileSetting: string;
  /** Variables of the environment that hold it where no file is given: the first one decides whether they do. */
  readonly variables: readonly string[];
  readonly description: string;
  readonly example: string;
}

/** A secret, read from one place. */
export interface ProviderSecret {
  /** The setting or the variable that it comes from, for messages. */
  readonly source: string;
  /** The content of the file. */
  readonly file: Secret | undefined;
  readonly variables: Readonly<Record<string, Secret>>;
}

export interface DeclaredSettings {
  readonly settings: Readonly<Record<string, SettingRow>>;
  readonly secret?: SecretRow | undefined;
}

export type Variables = Readonly<Record<string, string | undefined>>;

/** @throws FrontdoorError `acme-options` */
export function checkProviderSettings(
  name: string,
  { settings, secret }: DeclaredSettings,
  values: Readonly<Record<string, string>>,
): void {
  const known = [...Object.keys(settings), ...(secret === undefined ? [] : [secret.fileSetting])];
  for (const [setting, value] of Object.entries(values)) {
    if (!known.includes(setting)) throw refused(unknownSetting(name, setting, known, secret));
    const problem =
      setting === secret?.fileSetting && !isAbsolute(value)
        ? 'must be an absolute path'
        : settings[setting]?.problem?.(value);
    if (problem !== undefined) throw refused(`--acme-dns-setting ${setting}: ${problem}`);
  }
  for (const [setting, { isRequired = false, example }] of Object.entries(settings))
    if (isRequired && values[setting] === undefined)
      throw refused(`--acme-dns-provider ${name} needs --acme-dns-setting ${setting}=${example}`);
}

/** Rejects with `acme-options`, without repeating the secret. */
export async function readProviderSecret(
  name: string,
  row: SecretRow,
  values: Readonly<Record<string, string>>,
  environment: Variables,
): Promise<ProviderSecret> {
  const { fileSetting, variables } = row;
  const path = values[fileSetting];
  if (path !== undefined) {
    const read = await readPrivateFile(path);
    // The path may be the secret itself, and is not repeated.
    if ('problem' in read && read.isMissing)
      throw refused(
        `--acme-dns-setting ${fileSetting}: there is no such file; it takes the path of a file, not its content`,
      );
    if ('problem' in read)
      throw refused(`--acme-dns-setting ${fileSetting}: ${path} is refused: ${read.problem}`);
    return { source: `${fileSetting}=${path}`, file: new Secret(read.text), variables: {} };
  }
  const [first] = variables;
  if (first === undefined || (environment[first] ?? '') === '')
    throw refused(
      `--acme-dns-provider ${name} needs ${row.description}: give --acme-dns-setting ${fileSetting}=${row.example}, or ` +
        `set ${variables.filter((variable) => !isOptional(variable)).join(' and ')} in the environment`,
    );
  const given = variables.flatMap((variable): [string, Secret][] => {
    const text = environment[variable] ?? '';
    return text === '' ? [] : [[variable, new Secret(text)]];
  });
  return { source: first, file: undefined, variables: Object.fromEntries(given) };
}

/** The one word that a secret consists of, such as a token. @throws FrontdoorError `acme-options` */
export function wordOf({ source, file, variables }: ProviderSecret, what: string): Secret {
  const text = (file ?? Object.values(variables)[0])?.reveal().trim() ?? '';
  if (/^[\x21-\x7e]{1,4096}$/.test(text)) return new Secret(text);
  throw refused(`${source} holds no ${what}: it must be one word, and nothing else`);
}

/** The domains to which aliases of challenges may lead. */
export function delegationsOf({ delegation }: Readonly<Record<string, string>>): readonly string[] {
  return delegation?.split(',') ?? [];
}

export function refused(message: string): FrontdoorError {
  return new FrontdoorError('invalid', 'acme-options', message);
}

/** A session token exists with temporary keys only. */
function isOptional(variable: string): boolean {
  return variable.endsWith('_SESSION_TOKEN');
}

function unknownSetting(
  name: string,
  setting: string,
  known: readonly string[],
  secret: SecretRow | undefined,
): string {
  if (secret !== undefined && `${setting}-file` === secret.fileSetting)
    return (
      `--acme-dns-setting ${setting}: other users can read command lines, so no secret belongs there; give ` +
      `${secret.fileSetting}=${secret.example}, or set ${secret.variables[0]} in the environment`
    );
  const near = misspelledName(setting, known);
  // Another text may be a secret that was given without the name of its setting.
  return near === undefined
    ? `--acme-dns-provider ${name} has no such setting: its settings are ${known.join(', ')}`
    : `--acme-dns-provider ${name} has no setting ${setting}: did you mean ${near}?`;
}
