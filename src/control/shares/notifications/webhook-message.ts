/**
 * A message to a webhook, signed as Standard Webhooks defines it: HMAC-SHA-256 over `id.timestamp.body`, one signature for
 * each secret that is valid now.
 */
import { createHmac, randomBytes } from 'node:crypto';
import type { NotificationMessage } from './destination-channel.ts';

const PREFIX = 'whsec_';
const SECRET_BYTES = 32;

export function newWebhookSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString('base64');
}

export function webhookBody({ id, type, atMs, data }: NotificationMessage): string {
  const timestamp = new Date(atMs).toISOString();
  return JSON.stringify({ id, type, timestamp, data: JSON.parse(data) as unknown });
}

/** The headers of an attempt at `nowMs`. */
export function webhookHeaders(
  id: string,
  body: string,
  secrets: readonly string[],
  nowMs: number,
): Readonly<Record<string, string>> {
  const seconds = String(Math.floor(nowMs / 1_000));
  const signed = `${id}.${seconds}.${body}`;
  return {
    'content-type': 'application/json',
    'user-agent': 'Frontdoor-Webhooks/1',
    'webhook-id': id,
    'webhook-timestamp': seconds,
    'webhook-signature': secrets.map((secret) => `v1,${signatureOf(secret, signed)}`).join(' '),
  };
}

function signatureOf(secret: string, text: string): string {
  const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
  return createHmac('sha256', key).update(text).digest('base64');
}
