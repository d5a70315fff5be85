/** Encodes changes for PostgreSQL notifications: texts of less than 8000 bytes. */
import { EVERYTHING, type Change } from './store.ts';

export interface ChangePayload {
  /** Id of the transaction that made the changes. */
  readonly transactionId: string;
  readonly changes: readonly Change[];
}

/** The server accepts less than 8000. */
const MAX_BYTES = 7_900;
/** More changes than this are sent as `EVERYTHING`, because reading everything again does not cost more. */
const MAX_CHANGES = 5_000;

/** Returns at least one payload. */
export function encodePayloads(transactionId: string, changes: readonly Change[]): string[] {
  const listed = changes.length > MAX_CHANGES ? [EVERYTHING] : changes;
  const head = `[${JSON.stringify(transactionId)}`;
  const payloads: string[] = [];
  let text = head;
  for (const { entity, id } of listed) {
    const item = `,${JSON.stringify(entity)},${JSON.stringify(id)}`;
    if (text !== head && Buffer.byteLength(text) + Buffer.byteLength(item) >= MAX_BYTES) {
      payloads.push(`${text}]`);
      text = head;
    }
    text += item;
  }
  return [...payloads, `${text}]`];
}

/** Returns undefined if it is not a payload of Frontdoor. */
export function decodePayload(text: string): ChangePayload | undefined {
  const [transactionId, ...rest] = listOf(text);
  if (transactionId === undefined || rest.length % 2 !== 0) return undefined;
  const changes: Change[] = [];
  for (let at = 0; at < rest.length; at += 2) {
    // An entity of a newer version concerns no listener here.
    changes.push({ entity: rest[at] as Change['entity'], id: rest[at + 1]! });
  }
  return { transactionId, changes };
}

function listOf(text: string): readonly string[] {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) && value.every((item) => typeof item === 'string') ? value : [];
  } catch {
    return [];
  }
}
