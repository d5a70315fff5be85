/** How long a service may take, for each share. The time for the first byte of a response is part of the share's policy. */
import { Part, Type, type ShapeOf } from '#base/shapes';

/** Routers give a host five seconds to answer a dial. */
const MAX_CONNECT_SECONDS = 5;
const MAX_IDLE_SECONDS = 86_400;

export const targetTimeFields = {
  connectTimeoutSeconds: Type.Integer({
    minimum: 1,
    maximum: MAX_CONNECT_SECONDS,
    description:
      'Time limit for connecting to the service, the TLS handshake included; 5 seconds is the default and the most',
  }),
  idleTimeoutSeconds: Type.Integer({
    minimum: 1,
    maximum: MAX_IDLE_SECONDS,
    description:
      'How long a response or an upgraded connection may continue without a byte in either direction; by default an hour',
  }),
};

const schema = Part.closed(targetTimeFields);
export type TargetTimes = ShapeOf<typeof schema>;

export const DEFAULT_TARGET_TIMES: TargetTimes = { connectTimeoutSeconds: 5, idleTimeoutSeconds: 3_600 };

export function changedTargetTimes(before: TargetTimes, change: Partial<TargetTimes>): TargetTimes {
  const {
    connectTimeoutSeconds = before.connectTimeoutSeconds,
    idleTimeoutSeconds = before.idleTimeoutSeconds,
  } = change;
  return { connectTimeoutSeconds, idleTimeoutSeconds };
}
