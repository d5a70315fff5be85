/** Where a destination of notifications leads: each type has fields of its own, which others must not have. */
import { FrontdoorError } from '#base';
import type { BodyOf } from '#contract';
import { invalidValue } from '#domain';
import type { NewDestination, NotificationDestination } from '../notifications/destination-store.ts';
import { newWebhookSecret } from '../notifications/webhook-message.ts';
import type { ApiParts } from './call.ts';

type NewTarget = Pick<NewDestination, 'type' | 'url' | 'addresses' | 'secret'>;
type Change = BodyOf<'changeNotificationDestination'>;

/** Throws `invalid` for fields of another type, and `conflict` for mail without a mail server. */
export function newTargetOf(
  { notifications }: Pick<ApiParts, 'notifications'>,
  body: BodyOf<'createNotificationDestination'>,
): NewTarget {
  const { type = 'webhook', url, addresses } = body;
  checkOfType(type, body);
  if (type === 'email') {
    if (addresses === undefined) throw invalidValue('addresses', 'a list of email addresses');
    if (!notifications.hasMail) {
      const message = 'The operator of this installation has not configured a mail server (--smtp-host)';
      throw new FrontdoorError('conflict', 'mail-not-configured', message);
    }
    return { type, url: null, addresses, secret: null };
  }
  if (url === undefined) throw invalidValue('url', 'an HTTP or HTTPS address');
  checkUrl(url);
  return { type, url, addresses: [], secret: newWebhookSecret() };
}

/** Throws `invalid` for a field that destinations of this type do not have. */
export function checkOfType(
  type: NotificationDestination['type'],
  { url, addresses }: Pick<Change, 'url' | 'addresses'>,
): void {
  if (type === 'email' && url !== undefined) throw noSuchField('url', type);
  if (type === 'webhook' && addresses !== undefined) throw noSuchField('addresses', type);
}

/** Throws `invalid` for what has the form of an address, but is none. */
export function checkUrl(url: string): void {
  if (!URL.canParse(url)) throw invalidValue('url', 'an HTTP or HTTPS address');
}

function noSuchField(field: string, type: string): FrontdoorError {
  return new FrontdoorError('invalid', 'invalid-request', `A destination of type ${type} has no ${field}`);
}
