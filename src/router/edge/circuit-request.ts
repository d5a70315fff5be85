/** Sends an SDK's Connect to the controllers, which authorize the dial and know where the service is hosted. */
import {
  contentType,
  decodeCircuitCreated,
  decodeEdgeRefusal,
  EdgeErrorCode,
  encodeCreateCircuitV2,
  headerId,
  textOfBody,
  type CircuitCreated,
  type Frame,
} from '#wire';
import type { KnownApiSession } from '../ctrl/api-session-registry.ts';
import type { CircuitAsker } from '../ctrl/circuit-asker.ts';
import { dialerData } from './dial-frame.ts';
import { CircuitRefusal } from '../forwarder/dial-refusal.ts';

export interface AskedCircuit {
  /** The SDK's Connect frame. */
  readonly frame: Frame;
  readonly session: KnownApiSession;
  /** Fingerprint of the SDK's certificate. */
  readonly fingerprint: string;
}

/** Rejects with a `CircuitRefusal`, or like `CircuitAsker.ask`. */
export async function requestCircuit(
  { frame, session, fingerprint }: AskedCircuit,
  asker: CircuitAsker,
  timeoutMs: number,
): Promise<{ readonly created: CircuitCreated; readonly controllerId: string }> {
  const question = encodeCreateCircuitV2({
    sessionToken: textOfBody(frame),
    apiSessionToken: session.token,
    fingerprints: [fingerprint],
    terminatorInstanceId: frame.headers.text(headerId.edge.terminatorIdentity) ?? '',
    peerData: dialerData(frame, session.identityId),
  });
  const { answer, controller } = await asker.ask(question, timeoutMs, isNoWay);
  if (answer.contentType !== contentType.createCircuitV2Response) throw new CircuitRefusal(answer);
  return { created: decodeCircuitCreated(answer), controllerId: controller.id };
}

/** True if the controller does not know the host, or a path to it: another controller may. */
function isNoWay(answer: Frame): boolean {
  return (
    answer.contentType !== contentType.createCircuitV2Response &&
    decodeEdgeRefusal(answer).code === EdgeErrorCode.invalidTerminator
  );
}
