/** Rules of `listeners` and `dialers`: the requirements of each binding. */
import { formatGoDuration, nearestNames, parseGoDuration } from '#base';
import { placeAt } from '../file-tree.ts';
import { DIALER_BINDINGS, IMPLIED_DIALER_BINDINGS } from '../schema/listener-schema.ts';
import type { ListenerFile } from '../schema/router-file-schema.ts';
import { parseDatagramAddress, parseFileAddress, parseHostPort, TEXT_KINDS } from '../text-kinds.ts';
import type { Draft, RuleContext } from './draft.ts';

type ListenerDraft = Draft<ListenerFile>;

export const UDP_BINDINGS: readonly string[] = ['transport_udp', 'proxy_udp'];
const ADVERTISING = ['edge', 'transport', 'transport_udp'];
const EDGE_TIMEOUT = { leastMs: 30, mostMs: 60_000 };

export function checkListeners(context: RuleContext): void {
  const { draft, problems, root } = context;
  const listeners = draft.listeners ?? [];
  listeners.forEach((listener, i) => {
    if (listener?.binding !== undefined) checkListener(context, listener, `listeners[${i}]`);
  });
  // An invalid section was reported before.
  const written = placeAt(root, 'listeners').node?.kind ?? 'null';
  const isBroken = draft.listeners === undefined && written !== 'null';
  if (
    draft.edge !== undefined &&
    !isBroken &&
    !listeners.some((one) => one === undefined || one.binding === 'edge')
  )
    problems.warning(
      'edge',
      'no-listener',
      'there is no listener with the binding edge: SDKs cannot connect',
    );
}

function checkListener(context: RuleContext, listener: ListenerDraft, path: string): void {
  const { draft, problems } = context;
  const binding = listener.binding!;
  if ((binding === 'edge' || binding === 'tunnel') && draft.edge === undefined && !isGiven(context, 'edge'))
    problems.error(
      `${path}.binding`,
      'needs-edge',
      `a listener with the binding ${binding} needs the edge section`,
    );
  if (binding !== 'tunnel') checkAddress(context, listener, path, UDP_BINDINGS.includes(binding));
  checkAdvertise(context, listener, path, ADVERTISING.includes(binding));
  if (binding.startsWith('proxy') && listener.service === undefined && !isGiven(context, `${path}.service`))
    problems.error(
      `${path}.service`,
      'required',
      `is missing: a listener with the binding ${binding} needs it`,
    );
  checkTimeout(context, listener, `${path}.options.connectTimeout`);
}

/**
 * For an edge listener it is the timeout of its channels, with their bounds; for others that of a dialed connection.
 */
function checkTimeout({ problems }: RuleContext, { binding, options }: ListenerDraft, path: string): void {
  if (options?.connectTimeout === undefined) return;
  const ms = parseGoDuration(options.connectTimeout)!;
  if (binding !== 'edge') {
    if (ms < 0) problems.warning(path, 'minimum', 'must be at least 0s: 0s is used');
    return;
  }
  const { leastMs, mostMs } = EDGE_TIMEOUT;
  if (ms >= leastMs && ms <= mostMs) return;
  const bounds = `must be from ${formatGoDuration(leastMs)} to ${formatGoDuration(mostMs)}`;
  problems.error(path, ms < leastMs ? 'minimum' : 'maximum', bounds);
}

/** `address` has precedence over `bind`. */
export function addressKeyOf(listener: ListenerDraft): 'address' | 'bind' {
  return listener.address === undefined && listener.bind !== undefined ? 'bind' : 'address';
}

function checkAddress(context: RuleContext, listener: ListenerDraft, path: string, isUdp: boolean): void {
  const key = addressKeyOf(listener);
  const text = listener[key];
  if (text === undefined) {
    if (!isGiven(context, `${path}.address`) && !isGiven(context, `${path}.bind`))
      context.problems.error(
        `${path}.address`,
        'required',
        'is missing: address or bind says where to listen',
      );
    return;
  }
  if ((isUdp ? parseDatagramAddress(text) : parseFileAddress(text)) !== undefined) return;
  const words = isUdp ? 'an address such as udp:0.0.0.0:5000' : TEXT_KINDS.address.words;
  context.problems.error(`${path}.${key}`, 'address', `must be ${words}`);
}

/** The value in the options has precedence. */
export function advertiseOf(listener: ListenerDraft): {
  readonly text: string | undefined;
  readonly key: string;
} {
  const inside = listener.options?.advertise;
  if (inside !== undefined) return { text: inside, key: 'options.advertise' };
  if (listener.advertise !== undefined) return { text: listener.advertise, key: 'advertise' };
  return { text: undefined, key: 'options.advertise' };
}

function checkAdvertise(
  context: RuleContext,
  listener: ListenerDraft,
  path: string,
  isNeeded: boolean,
): void {
  const { problems } = context;
  const { text, key } = advertiseOf(listener);
  if (text === undefined) {
    if (!isNeeded || isGiven(context, `${path}.advertise`) || isGiven(context, `${path}.options.advertise`))
      return;
    problems.error(
      `${path}.${key}`,
      'required',
      `is missing: a listener with the binding ${listener.binding!} needs it`,
    );
    return;
  }
  if (!isNeeded)
    problems.warning(`${path}.${key}`, 'no-effect', `has no effect with the binding ${listener.binding!}`);
  else if (parseHostPort(text) === undefined)
    problems.error(`${path}.${key}`, 'host-port', `must be ${TEXT_KINDS['host-port'].words}`);
}

export function checkDialers({ draft, problems }: RuleContext): void {
  const seen = new Map<string, number>();
  draft.dialers?.forEach((dialer, i) => {
    const binding = dialer?.binding;
    if (binding === undefined) return;
    const path = `dialers[${i}].binding`;
    if (![...DIALER_BINDINGS, ...IMPLIED_DIALER_BINDINGS].includes(binding)) {
      const [nearest] = nearestNames(binding, DIALER_BINDINGS, 1);
      problems.warning(path, 'binding', `is no binding that this router knows; the nearest is ${nearest!}`);
    }
    const first = seen.get(binding);
    if (first !== undefined)
      problems.warning(path, 'duplicate-binding', `stands in dialers[${first}] too: the last one holds`);
    seen.set(binding, i);
  });
  const tunnel = seen.get('tunnel');
  if (tunnel === undefined || draft.listeners?.some((one) => one === undefined || one.binding === 'tunnel'))
    return;
  problems.warning(
    `dialers[${tunnel}].binding`,
    'no-effect',
    'has no effect without a listener with the binding tunnel',
  );
}

function isGiven({ root }: RuleContext, path: string): boolean {
  return placeAt(root, path).node !== undefined;
}
