/**
 * Removes credentials from a recorded request, even for the owner of its share: by their place, and by names that
 * are common for them. If unsure, data is left out.
 */
import { REDACTED } from '#domain/gateway-shapes';

export type Header = readonly [name: string, value: string];

/** Headers and parameters of this request that contain secrets whatever their name is; lower case. */
export interface SecretNames {
  readonly headers: readonly string[];
  readonly parameters: readonly string[];
}

const SECRET_HEADERS =
  /^(?:authorization|cookie2?|set-cookie2?|proxy-.*|frontdoor-identity|x-amz-security-.*)$/;
const SECRET_NAME =
  /token|secret|hmac|passw|pwd|passphrase|key|credential|signature|session|cookie|jwt|assertion|authorization|(?:^|[-_.])(?:otp|sig|code|state|nonce|pin|auth)$/i;
/** Headers whose value is a URL, which may have a query. */
const ADDRESS_HEADERS = /^(?:referer|location|content-location)$/;

export function redactedHeaders(headers: readonly Header[], secrets: SecretNames): readonly Header[] {
  return headers.map(([name, value]) => {
    const folded = name.toLowerCase().replaceAll('_', '-');
    if (SECRET_HEADERS.test(folded) || SECRET_NAME.test(folded) || secrets.headers.includes(folded))
      return [name, REDACTED];
    return ADDRESS_HEADERS.test(folded) ? [name, redactedAddress(value, secrets)] : [name, value];
  });
}

function redactedAddress(address: string, secrets: SecretNames): string {
  const bare = address.replace(/\/\/[^/?#]*@/, `//${REDACTED}@`);
  const hash = bare.indexOf('#');
  if (hash === -1) return redactedTarget(bare, secrets);
  const fragment = redactedPairs(bare.slice(hash + 1), secrets);
  return `${redactedTarget(bare.slice(0, hash), secrets)}#${fragment}`;
}

/** Redacts a path with its query. */
export function redactedTarget(target: string, secrets: SecretNames): string {
  const query = target.indexOf('?');
  if (query === -1) return target;
  return `${target.slice(0, query + 1)}${redactedPairs(target.slice(query + 1), secrets)}`;
}

/** Returns undefined if the secrets in the body cannot be determined, so that none of it is shown. */
export function redactedBody(
  body: Uint8Array,
  facts: {
    readonly contentType: string;
    readonly contentEncoding: string;
    readonly isWhole: boolean;
    readonly secrets: SecretNames;
  },
): Uint8Array | undefined {
  if (body.length === 0) return body;
  const type = facts.contentType.split(';', 1)[0]!.trim().toLowerCase();
  const isForm = type === 'application/x-www-form-urlencoded';
  const isJson = type === '' || /[/+]json$/.test(type);
  if (!isForm && !isJson) {
    // Parts of a form, and lines of JSON, may contain the same secrets as a form or JSON.
    return /multipart|json/.test(type) ? undefined : body;
  }
  if (!facts.isWhole || facts.contentEncoding !== '') return undefined;
  const text = textOf(body);
  if (text === undefined) return undefined;
  if (isForm) return Buffer.from(redactedPairs(text, facts.secrets));
  return redactedJson(text, body);
}

function redactedJson(text: string, body: Uint8Array): Uint8Array | undefined {
  let found = false;
  try {
    const value: unknown = JSON.parse(text, (name, each: unknown) => {
      if (!SECRET_NAME.test(name) || each === null) return each;
      found = true;
      return REDACTED;
    });
    return found ? Buffer.from(JSON.stringify(value)) : body;
  } catch {
    return undefined;
  }
}

function redactedPairs(text: string, secrets: SecretNames): string {
  return text
    .split('&')
    .map((pair) => {
      const equals = pair.indexOf('=');
      const name = decoded(equals === -1 ? pair : pair.slice(0, equals));
      const isSecret =
        name === undefined || SECRET_NAME.test(name) || secrets.parameters.includes(name.toLowerCase());
      if (!isSecret) return pair;
      return equals === -1 ? REDACTED : `${pair.slice(0, equals)}=${REDACTED}`;
    })
    .join('&');
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
