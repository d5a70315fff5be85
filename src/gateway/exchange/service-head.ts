/** The head of an admitted request for its service, with the changes of access control and of the share's upstream settings. */
import { encodeUpstreamHead } from '../http/forward-head-codec.ts';
import type { RequestHead } from '../http/request-head-policy.ts';
import { HostRewriting } from '../http/service-host.ts';
import type { RequestRecord } from './request-record.ts';

/** `forwardedLines` are those of the connection. The record gets what the response needs. */
export function serviceHead(record: RequestRecord, head: RequestHead, forwardedLines: string): string {
  const lines = `${forwardedLines}Frontdoor-Request-Id: ${record.id}\r\n`;
  const changes = record.admission?.changes;
  const service = record.route?.share.upstream?.host;
  if (service === undefined) return encodeUpstreamHead(head, lines, changes);
  const { hostValue } = head;
  record.rewriting = new HostRewriting(service, { hostValue, isSecure: record.client.isSecure });
  return encodeUpstreamHead(head, lines, record.rewriting.requestChanges(head, changes));
}
