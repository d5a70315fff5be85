/** The rows of `npm run battery`, in the order of the test plan. */
import { ALONE_ROW } from './alone-row.ts';
import { ANSWER_ROW } from './answer-row.ts';
import type { BatteryRow } from './battery-row.ts';
import { CHURN_ROW } from './churn-row.ts';
import { CREDENTIAL_END_ROW } from './credential-end-row.ts';
import { CROWD_ROW } from './crowd-row.ts';
import { DIFFERENTIAL_ROW } from './differential-row.ts';
import { ENROLLED_PEER_ROW } from './enrolled-peer-row.ts';
import { FAIRNESS_ROW } from './fairness-row.ts';
import { FRAMING_ROW } from './framing-row.ts';
import { HANDSHAKE_ROW } from './handshake-row.ts';
import { HOP_ROW } from './hop-row.ts';
import { HOST_ROW } from './host-row.ts';
import { IDENTITY_ROW } from './identity-row.ts';
import { ISOLATION_ROW } from './isolation-row.ts';
import { LOG_IN_FLOOD_ROW } from './log-in-flood-row.ts';
import { PATH_ROW } from './path-row.ts';
import { REFUSAL_ROW } from './refusal-row.ts';
import { RESTING_NAME_ROW } from './resting-name-row.ts';
import { REVOCATION_ROW } from './revocation-row.ts';
import { RULE_EFFECT_ROW } from './rule-effect-row.ts';
import { SECRET_MESSAGE_ROW } from './secret-message-row.ts';
import { SIBLINGS_ROW } from './siblings-row.ts';
import { SITE_HEADER_ROW } from './site-header-row.ts';
import { SMALL_MACHINE_ROW } from './small-machine-row.ts';
import { SLOW_PEER_ROW } from './slow-peer-row.ts';
import { SLOW_READERS_ROW } from './slow-readers-row.ts';
import { SLOWLORIS_ROW } from './slowloris-row.ts';
import { SOAK_ROW } from './soak-row.ts';
import { CLOSING_SERVICE_ROW } from './closing-service-row.ts';
import { CLOCK_ROW } from './clock-row.ts';
import { TURN_ROW } from './turn-row.ts';
import { UNPROVEN_NAME_ROW } from './unproven-name-row.ts';
import { UNPROVEN_ROW } from './unproven-row.ts';
import { TENANT_CERTIFICATES_ROW } from './tenant-certificates-row.ts';
import { TIMING_ROW } from './timing-row.ts';
import { TLS_ROW } from './tls-row.ts';
import { WRONG_CREDENTIAL_ROW } from './wrong-credential-row.ts';

export const BATTERY_ROWS: readonly BatteryRow[] = [
  FRAMING_ROW,
  HOST_ROW,
  PATH_ROW,
  IDENTITY_ROW,
  HOP_ROW,
  ANSWER_ROW,
  ISOLATION_ROW,
  TLS_ROW,
  DIFFERENTIAL_ROW,
  CLOSING_SERVICE_ROW,
  REVOCATION_ROW,
  TIMING_ROW,
  CLOCK_ROW,
  SIBLINGS_ROW,
  RESTING_NAME_ROW,
  WRONG_CREDENTIAL_ROW,
  REFUSAL_ROW,
  CREDENTIAL_END_ROW,
  TENANT_CERTIFICATES_ROW,
  UNPROVEN_NAME_ROW,
  LOG_IN_FLOOD_ROW,
  RULE_EFFECT_ROW,
  SECRET_MESSAGE_ROW,
  SITE_HEADER_ROW,
  SLOW_PEER_ROW,
  SLOW_READERS_ROW,
  CROWD_ROW,
  SOAK_ROW,
  CHURN_ROW,
  SLOWLORIS_ROW,
  FAIRNESS_ROW,
  HANDSHAKE_ROW,
  UNPROVEN_ROW,
  ENROLLED_PEER_ROW,
  TURN_ROW,
  ALONE_ROW,
  SMALL_MACHINE_ROW,
];
