/**
 * How an agent verifies the certificate of an https target: fields of a share's upstream settings. By default the certificate
 * is for the target's host, and an authority that the agent's machine trusts issued it. ADR 0091.
 */
import { Part, Type } from '#base/shapes';

/** What `tlsCa` holds at most. */
export const MAX_TLS_CA_CHARS = 16_384;
export const TLS_PIN_RULE = 'SHA-256 fingerprint (64 hexadecimal digits, with or without colons)';
export const TLS_CA_RULE = `list of PEM certificates of at most ${MAX_TLS_CA_CHARS} characters`;
export const TLS_CLIENT_RULE = 'name of 1 to 63 letters, digits, - and _, such as plc';
export const TLS_SERVER_NAME_RULE = 'host name such as pve.example.com';

const PIN = /^(?:[0-9A-Fa-f]{2}:?){31}[0-9A-Fa-f]{2}$/;
const BLOCK =
  /-----BEGIN CERTIFICATE-----\r?\n(?:[A-Za-z0-9+/]{1,76}={0,2}\r?\n){1,400}-----END CERTIFICATE-----/g;
const LABEL = /^[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?$/;
const NUMBER = /^(?:[0-9]+|0[Xx][0-9A-Fa-f]*)$/;
const MAX_NAME_CHARS = 253;
const CLIENT_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$/;

/** Formats are those of the contract, which checks them; `targetTlsProblems` does for the other sources. */
export const targetTlsFields = {
  tlsPin: Part.nullable(
    Type.String({
      format: 'certificate-pin',
      description:
        'For https targets: SHA-256 fingerprint of the certificate that the service must present. It replaces verification by authority and name, and the certificate may have expired. null: none',
    }),
  ),
  tlsCa: Part.nullable(
    Type.String({
      format: 'certificate-list',
      description:
        "For https targets: certificates (PEM) of the authorities that may issue the certificate of the service, instead of those that the agent trusts. null: the agent's",
    }),
  ),
  tlsServerName: Part.nullable(
    Type.String({
      format: 'server-name',
      description:
        'For https targets: name that the agent asks the service for, and that its certificate must have. null: the host of the target',
    }),
  ),
  tlsClient: Part.nullable(
    Type.String({
      format: 'client-certificate-name',
      description:
        'For https targets: name of the client certificate that the agent presents, as its option `--target-client-certificate NAME=FILE` has it. null: the one without a name, if the agent has one',
    }),
  ),
  tlsInsecure: Type.Boolean({
    description:
      'For https targets: accept any certificate, so that anybody between agent and service can read and change everything. A pinned certificate is required nevertheless',
  }),
};

export interface TargetTls {
  /** 64 hexadecimal digits in lower case. */
  readonly tlsPin: string | null;
  readonly tlsCa: string | null;
  readonly tlsServerName: string | null;
  readonly tlsClient: string | null;
  readonly tlsInsecure: boolean;
}

export const DEFAULT_TARGET_TLS: TargetTls = {
  tlsPin: null,
  tlsCa: null,
  tlsServerName: null,
  tlsClient: null,
  tlsInsecure: false,
};

/** Returns the digits in lower case, or undefined if the text is no fingerprint. */
export function parseTlsPin(text: string): string | undefined {
  return PIN.test(text) ? text.replaceAll(':', '').toLowerCase() : undefined;
}

/** Returns the certificates alone, or undefined if there are none or too many. Whether each can be read is not checked. */
export function parseTlsCa(text: string): string | undefined {
  const blocks = text.match(BLOCK);
  // Another block, such as a private key or one that is damaged, is refused instead of left out.
  if (blocks === null || (text.match(/-----BEGIN /g) ?? []).length !== blocks.length) return undefined;
  const pem = `${blocks.map((block) => block.replaceAll('\r', '')).join('\n')}\n`;
  return pem.length > MAX_TLS_CA_CHARS ? undefined : pem;
}

/** Returns the name in lower case. An address is no name, because clients do not ask for addresses. */
export function parseTlsServerName(text: string): string | undefined {
  const labels = text.split('.');
  const isName = labels.every((label) => LABEL.test(label)) && !NUMBER.test(labels.at(-1)!);
  return isName && text.length <= MAX_NAME_CHARS ? text.toLowerCase() : undefined;
}

/** Returns the name as it is, or undefined if it is none. */
export function parseTlsClient(text: string): string | undefined {
  return CLIENT_NAME.test(text) ? text : undefined;
}

/** `change` has passed `targetTlsProblems`. */
export function changedTargetTls(before: TargetTls, change: Partial<TargetTls>): TargetTls {
  const { tlsPin, tlsCa, tlsServerName, tlsClient, tlsInsecure = before.tlsInsecure } = change;
  return {
    tlsPin: changed(before.tlsPin, tlsPin, parseTlsPin),
    tlsCa: changed(before.tlsCa, tlsCa, parseTlsCa),
    tlsServerName: changed(before.tlsServerName, tlsServerName, parseTlsServerName),
    tlsClient: changed(before.tlsClient, tlsClient, parseTlsClient),
    tlsInsecure,
  };
}

function changed(
  before: string | null,
  given: string | null | undefined,
  parse: (text: string) => string | undefined,
): string | null {
  if (given === undefined) return before;
  return given === null ? null : parse(given)!;
}

/** The fields that are not valid, each with its rule. */
export function targetTlsProblems(
  change: Partial<TargetTls>,
): readonly { readonly field: string; readonly rule: string }[] {
  const { tlsPin, tlsCa, tlsServerName, tlsClient } = change;
  const found = [];
  if (isWrong(tlsPin, parseTlsPin)) found.push({ field: 'tlsPin', rule: TLS_PIN_RULE });
  if (isWrong(tlsCa, parseTlsCa)) found.push({ field: 'tlsCa', rule: TLS_CA_RULE });
  if (isWrong(tlsServerName, parseTlsServerName))
    found.push({ field: 'tlsServerName', rule: TLS_SERVER_NAME_RULE });
  if (isWrong(tlsClient, parseTlsClient)) found.push({ field: 'tlsClient', rule: TLS_CLIENT_RULE });
  return found;
}

function isWrong(value: string | null | undefined, parse: (text: string) => string | undefined): boolean {
  return value !== null && value !== undefined && parse(value) === undefined;
}

/** Whether a change sets one of these fields to something that has an effect. */
export function setsTargetTls(change: Partial<TargetTls>): boolean {
  const { tlsPin, tlsCa, tlsServerName, tlsClient, tlsInsecure } = change;
  return (
    [tlsPin, tlsCa, tlsServerName, tlsClient].some((value) => typeof value === 'string') ||
    tlsInsecure === true
  );
}
