/** The head of an admitted request for its service, with the changes of access control and of the share's upstream settings. */
import { encodeUpstreamHead } from '../http/forward-head-codec.ts';
import type { RequestHead } from '../http/request-head-policy.ts';
import type { RequestRecord } from './request-record.ts';

/** `forwardedLines` are those of the connection. The record gets what the response needs. */
export function serviceHead(record: RequestRecord, head: RequestHead, forwardedLines: string): string {
  const lines = `${forwardedLines}Frontdoor-Request-Id: ${record.id}\r\n`;
  const changes = record.admission?.changes;
  const heads = record.route?.heads;
  if (heads === undefined) return encodeUpstreamHead(head, lines, changes);
  const { hostValue } = head;
  record.rewriting = heads.begin({ hostValue, isSecure: record.client.isSecure });
  return encodeUpstreamHead(head, lines, record.rewriting.requestChanges(head, changes));
}
