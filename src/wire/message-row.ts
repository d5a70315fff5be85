/** The rows of the tables of messages: what each content type is. */
export type BodyKind = 'empty' | 'text' | 'protobuf' | 'bytes' | 'u32' | 'i32BE list' | 'json' | 'control';

export type Sender = 'both' | 'dialer' | 'listener' | 'router' | 'controller' | 'sdk';

export interface MessageRow {
  readonly id: number;
  /** OpenZiti's name of the message. */
  readonly name: string;
  readonly from: Sender;
  readonly body: BodyKind;
  /** First release with the message; `1.x` means older than the oldest peer that we support. */
  readonly since: string;
  readonly note: string;
}

export function row<const Id extends number>(
  id: Id,
  name: string,
  from: Sender,
  body: BodyKind,
  note: string,
  since = '1.x',
): MessageRow & { readonly id: Id } {
  return { id, name, from, body, since, note };
}
