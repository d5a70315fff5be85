/**
 * The body of a log-in: the types of configs that the client wants, and what it reports about itself. `envInfo` describes its
 * machine and `sdkInfo` its program, in JSON, or as fields `envOs`, `sdkType` and so on of a form. Descriptions prove nothing,
 * and no log-in is refused because of them: texts are shortened, and unknown fields ignored.
 */
import { isJsonObject } from '#base';
import type { IdentityClient } from '../../overlay/records/mod.ts';
import { couldNotValidate } from '../../overlay/clients/mod.ts';

const MAX_CONFIG_TYPES = 100;
const MAX_CONFIG_TYPE_CHARS = 200;
/** As OpenZiti's limit. */
const MAX_CHARS = 255;
const ENV_FIELDS = ['arch', 'os', 'osRelease', 'osVersion', 'domain', 'hostname'];
const SDK_FIELDS = ['appId', 'appVersion', 'branch', 'revision', 'type', 'version'];
/** The Go SDK's form has a field whose name differs in case. */
const FORM_NAMES: Readonly<Record<string, string>> = { sdkAppId: 'sdkAppID' };

type Fields = Readonly<Record<string, unknown>>;

/** What a client asks for and reports when it logs in. */
export interface LogInWish {
  readonly configTypes: readonly string[];
  readonly client: IdentityClient;
}

/** Reads the body of a log-in. An empty one is a log-in without configs. */
export function wishOf(body: unknown): LogInWish {
  return { configTypes: configTypesOf(body), client: clientOf(body) };
}

function configTypesOf(body: unknown): string[] {
  if (body === undefined || body === null) return [];
  const { configTypes } = body as { configTypes?: unknown };
  if (configTypes === undefined || configTypes === null) return [];
  const texts = Array.isArray(configTypes) && configTypes.every((one) => typeof one === 'string');
  if (!texts || configTypes.length > MAX_CONFIG_TYPES)
    throw couldNotValidate('configTypes is not a list of texts');
  if (configTypes.some((one: string) => one.length > MAX_CONFIG_TYPE_CHARS))
    throw couldNotValidate('a config type is too long');
  return configTypes;
}

/** `body` is that of a log-in: JSON, or the fields of a form. */
function clientOf(body: unknown): IdentityClient {
  const fields = isJsonObject(body) ? body : {};
  return { envInfo: partOf(fields, 'env', ENV_FIELDS), sdkInfo: partOf(fields, 'sdk', SDK_FIELDS) };
}

function partOf(body: Fields, prefix: 'env' | 'sdk', names: readonly string[]): Record<string, string> {
  const nested = body[`${prefix}Info`];
  const part: Record<string, string> = {};
  for (const name of names) {
    const value = isJsonObject(nested) ? nested[name] : formField(body, prefix, name);
    if (typeof value !== 'string') continue;
    const text = shortened(value);
    if (text !== '') part[name] = text;
  }
  return part;
}

function formField(body: Fields, prefix: string, name: string): unknown {
  const field = `${prefix}${name[0]!.toUpperCase()}${name.slice(1)}`;
  return body[field] ?? body[FORM_NAMES[field] ?? field];
}

/** Versions of some systems end with line breaks. */
function shortened(text: string): string {
  const start = text.slice(0, MAX_CHARS).toWellFormed();
  return start.replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim();
}
