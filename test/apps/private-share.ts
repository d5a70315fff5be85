/** A private share as another machine uses it: at the address that its agent has for the share. */
import { runClient } from './client-run.ts';

export class PrivateShare {
  readonly host = '127.0.0.1';
  readonly port: number;

  constructor(port: number) {
    this.port = port;
  }

  /** Resolves to the output of a client. */
  run(command: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<string> {
    return runClient(command, args, env);
  }
}
