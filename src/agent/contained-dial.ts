/** One dial of a share, or of a service of a tunnel, and the circuit that it may become, as one thing that fails alone. */
import type { Log } from '#base';
import { contain, type Contained } from '#net';
import type { Circuit, IncomingDial } from '#sdk';

const REASON = 'internal error of the agent';

/** An exception in `handle`, or in anything that it starts, refuses the dial or breaks its circuit. */
export function containDial(
  incoming: IncomingDial,
  share: string,
  log: Log,
  handle: (incoming: IncomingDial) => void,
): void {
  let circuit: Circuit | undefined;
  const what: Contained = {
    kind: 'circuit',
    get id() {
      return circuit === undefined ? `a dial of ${share}` : `${circuit.id} of ${share}`;
    },
    log,
    fail: () => {
      incoming.refuse(REASON);
      circuit?.destroy(REASON);
    },
  };
  const { callerId, serviceId, isStandby, appData } = incoming;
  contain(what, () =>
    handle({
      callerId,
      serviceId,
      isStandby: isStandby === true,
      appData,
      accept: () => (circuit = incoming.accept()),
      refuse: (reason, code) => incoming.refuse(reason, code),
    }),
  );
}
