/** Settings that are valid but that this version cannot run. The router refuses them by name at the start. */
import { parseDatagramAddress, parseFileAddress } from '../text-kinds.ts';
import { placeAt } from '../file-tree.ts';
import { ProblemList } from '../problem-list.ts';
import type { ConfigProblem } from '../router-config.ts';
import { addressKeyOf, UDP_BINDINGS } from './listener-rules.ts';
import type { RuleContext } from './draft.ts';

const WEB_SOCKET_IDENTITY = 'transport.wss.identity';

export function checkRunnable({ draft, root }: RuleContext): readonly ConfigProblem[] {
  const problems = new ProblemList(root);
  const refuse = (path: string, what: string): void =>
    problems.error(path, 'not-runnable', `${what}: this version cannot run it`);
  const held = (path: string, text: string | undefined, types: readonly string[]): void => {
    const type = text === undefined ? undefined : parseFileAddress(text)?.type;
    if (type !== undefined && !types.includes(type)) refuse(path, `the protocol ${type}`);
  };
  const { ctrl, link } = draft;
  held('ctrl.endpoint', ctrl?.endpoint, ['tls']);
  ctrl?.endpoints?.forEach((one, i) => held(`ctrl.endpoints[${i}]`, one, ['tls']));
  ctrl?.listeners?.forEach((one, i) => held(`ctrl.listeners[${i}].bind`, one?.bind, ['tls']));
  link?.listeners?.forEach((one, i) => {
    held(`link.listeners[${i}].bind`, one?.bind, ['tls']);
    held(`link.listeners[${i}].advertise`, one?.advertise, ['tls']);
  });
  if (placeAt(root, WEB_SOCKET_IDENTITY).node !== undefined)
    refuse(
      WEB_SOCKET_IDENTITY,
      'a certificate of WebSockets beside alt_server_certs of the identity section',
    );
  draft.listeners?.forEach((one, i) => {
    const path = `listeners[${i}]`;
    const binding = one?.binding ?? '';
    // A tunnel has no address.
    if (one === undefined || binding === '' || binding === 'tunnel') return;
    const key = addressKeyOf(one);
    const text = one[key];
    if (!UDP_BINDINGS.includes(binding))
      held(`${path}.${key}`, text, binding === 'edge' ? ['tls', 'wss', 'ws'] : ['tls', 'tcp', 'udp']);
    // The platform has no sockets of this kind.
    else if (text !== undefined && parseDatagramAddress(text)?.network === 'unixgram')
      refuse(`${path}.${key}`, 'the protocol unixgram');
  });
  return problems.all();
}
