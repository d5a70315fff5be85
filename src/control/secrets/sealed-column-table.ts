/**
 * Every column with encrypted values, and the key of its table, so that the values can be encrypted again (ADR 0062). A test
 * compares it with the schema. Answers that are kept for repeated requests are not here: only their requests open them.
 */
export interface SealedColumns {
  readonly table: string;
  readonly key: string;
  readonly columns: readonly string[];
}

export const SEALED: readonly SealedColumns[] = [
  { table: 'signing_key', key: 'id', columns: ['private_key_sealed'] },
  { table: 'authority', key: 'name', columns: ['key_sealed'] },
  { table: 'shared_key', key: 'name', columns: ['key_sealed'] },
  { table: 'api_session', key: 'id', columns: ['token_sealed'] },
  { table: 'identity_totp', key: 'identity_id', columns: ['secret_sealed', 'recovery_sealed'] },
  {
    table: 'person_totp',
    key: 'person_id',
    columns: ['secret_sealed', 'recovery_sealed', 'pending_sealed'],
  },
  { table: 'auth_provider', key: 'id', columns: ['secrets_sealed'] },
  {
    table: 'notification_destination',
    key: 'id',
    columns: ['url_sealed', 'addresses_sealed', 'secret_sealed', 'previous_sealed'],
  },
  { table: 'event_export', key: 'id', columns: ['url_sealed', 'secret_sealed'] },
  { table: 'login_attempt', key: 'state_hmac', columns: ['secrets_sealed'] },
];

/** Its values expire after a day at the latest. */
export const EXPIRING = { table: 'idempotency_answer', column: 'answer_sealed' } as const;
