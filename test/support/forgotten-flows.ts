/**
 * A network address translator that forgets connections of one port, made of rules of `nft`: what belongs to them gets
 * lost, or is answered to the dialing end with a reset. New connections pass. Only inside a namespace (packet-filter.ts).
 */
import { spawnSync } from 'node:child_process';

const TABLE = 'inet forgotten';

export class ForgottenFlows {
  readonly #port: number;
  /** How often each connection was forgotten, by its port and how. */
  readonly #forgotten = new Map<string, number>();
  #isClosed = false;

  /** `port` is that of the listener. */
  constructor(port: number) {
    this.#port = port;
    nft(`add table ${TABLE}`);
    nft(`add chain ${TABLE} flows { type filter hook input priority 0; }`);
    for (const set of ['silent', 'resetting', 'unreachable'])
      nft(`add set ${TABLE} ${set} { type inet_service; }`);
    const rule = (text: string): void => nft(`add rule ${TABLE} flows ${text}`);
    rule('tcp flags & rst == rst accept');
    rule(`tcp dport ${port} tcp sport @resetting reject with tcp reset`);
    for (const set of ['silent', 'resetting'])
      for (const [near, far] of [
        ['sport', 'dport'],
        ['dport', 'sport'],
      ])
        rule(`tcp ${near} ${port} tcp ${far} @${set} drop`);
    rule(`tcp dport ${port} tcp dport @unreachable tcp flags & (syn | ack) == syn drop`);
  }

  /** Forgets these connections, which are named by the ports of their dialing ends. */
  forget(ports: readonly number[], how: 'silent' | 'resetting'): void {
    for (const port of ports) {
      const key = `${how} { ${port} }`;
      this.#forgotten.set(key, (this.#forgotten.get(key) ?? 0) + 1);
      nft(`add element ${TABLE} ${key}`);
    }
  }

  /** Other connections may get these ports once they were released as often as they were forgotten. */
  release(ports: readonly number[], how: 'silent' | 'resetting'): void {
    if (this.#isClosed) return;
    for (const port of ports) {
      const key = `${how} { ${port} }`;
      const count = (this.#forgotten.get(key) ?? 1) - 1;
      this.#forgotten.set(key, count);
      if (count === 0) nft(`delete element ${TABLE} ${key}`);
    }
  }

  /** While it is unreachable, no new connection to the listener comes to be. */
  setReachable(isReachable: boolean): void {
    nft(`${isReachable ? 'delete' : 'add'} element ${TABLE} unreachable { ${this.#port} }`);
  }

  close(): void {
    this.#isClosed = true;
    nft(`delete table ${TABLE}`);
  }
}

function nft(rule: string): void {
  const { status, stderr } = spawnSync('nft', [rule], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`nft ${rule}: ${stderr}`);
}
