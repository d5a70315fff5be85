/** The administrator that a call was proven to come from. */
import type { ManagementSession } from '../../overlay/clients/mod.ts';
import type { EdgeEntityRecord } from '../../overlay/records/mod.ts';

export interface Administrator {
  readonly session: ManagementSession;
  readonly identity: EdgeEntityRecord;
  /** Whether the session is an API session, whose access token the call has. */
  readonly isSigned: boolean;
}
