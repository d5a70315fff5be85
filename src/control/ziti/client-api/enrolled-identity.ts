/** Identities of the edge management API that an enrollment creates, with the fields that administrators would give them. */
import { DEFAULT_AUTH_POLICY_ID, type EdgeEntityRecord, type JsonObject } from '../../overlay/model/mod.ts';

const MAX_NAME_CHARS = 256;
/** As OpenZiti names identities of an authority. */
const DEFAULT_NAME_FORMAT = '[caName]-[commonName]';

export interface NewEnrolledIdentity {
  readonly id: string;
  readonly name: string;
  readonly roleAttributes: readonly string[];
  /** By which signers of tokens know it. */
  readonly externalId?: string;
  /** The default one by default. */
  readonly authPolicyId?: string;
  readonly nowMs: number;
}

export function enrolledIdentity(wanted: NewEnrolledIdentity): EdgeEntityRecord {
  const {
    id,
    name,
    roleAttributes,
    externalId = null,
    authPolicyId = DEFAULT_AUTH_POLICY_ID,
    nowMs,
  } = wanted;
  const data: JsonObject = {
    isAdmin: false,
    roleAttributes,
    externalId,
    authPolicyId,
    appData: {},
    defaultHostingCost: 0,
    defaultHostingPrecedence: 'default',
    serviceHostingCosts: {},
    serviceHostingPrecedences: {},
  };
  return { id, kind: 'identity', name, data, tags: {}, createdAtMs: nowMs, updatedAtMs: nowMs };
}

/** Puts the values into a format such as `[caName]-[commonName]`, which is the default. Control characters become spaces. */
export function identityNameOf(format: unknown, values: Readonly<Record<string, string>>): string {
  const name = (typeof format === 'string' && format !== '' ? format : DEFAULT_NAME_FORMAT).replace(
    /\[(\w+)\]/g,
    (symbol, key: string) => (Object.hasOwn(values, key) ? values[key]! : symbol),
  );
  return name.replace(/\p{Cc}/gu, ' ').slice(0, MAX_NAME_CHARS - 40);
}
