/**
 * All parts as processes of their own: control plane, gateway, router and agent over real TLS. How each is enrolled
 * and started stands in `test/support/separate.ts`.
 */
import { join } from 'node:path';
import { PartProcess } from '../support/part-process.ts';
import { startSeparate as startParts } from '../support/separate.ts';
import { untilServed, type Product, type ProductOptions } from './product.ts';
import { profileArguments } from './ready-process.ts';

export interface SeparateProduct extends Omit<Product, 'firstAnswerMs'> {
  /** Stops all parts and starts them again, all at once; resolves to the milliseconds until the host answers. */
  restart(host: string): Promise<number>;
  /** A further gateway beside the first, with these arguments of `frontdoor gateway`. */
  addGateway(name: string, args: readonly string[]): Promise<AddedGateway>;
}

export interface AddedGateway {
  readonly port: number;
  readonly pid: number;
  stop(): Promise<void>;
}

export async function startSeparate({
  folder,
  args,
  cpuProfileDir,
}: ProductOptions): Promise<SeparateProduct> {
  const nodeArgs = profileArguments(cpuProfileDir);
  const separate = await startParts({ folder, logLevel: 'warn', nodeArgs, gatewayArgs: args });
  const { control, gateway, router, agent, port } = separate;
  const parts = { gateway, router, agent, control };
  const addGateway: SeparateProduct['addGateway'] = async (name, gatewayArgs) => {
    const jwt = join(folder, `${name}.jwt`);
    await separate.run(
      ...['fabric', 'gateway', 'create', name, '--out', jwt, '--ca', join(folder, 'api-ca.pem')],
    );
    const readyFile = join(folder, `${name}.json`);
    const part = new PartProcess<{ readonly gatewayUrl: string }>({
      name,
      readyFile,
      nodeArgs,
      env: { FRONTDOOR_LOG: 'warn' },
      args: () => [
        ...['gateway', '--data-dir', join(folder, name), '--enrollment-jwt', jwt],
        ...['--ready-file', readyFile, '--http-port', '0', ...gatewayArgs],
      ],
    });
    const { gatewayUrl } = await part.start();
    return {
      port: Number(new URL(gatewayUrl).port),
      pid: part.pid,
      stop: async () => void (await part.stop()),
    };
  };
  return {
    port,
    zone: 'share.localhost',
    get processes() {
      return new Map(Object.entries(parts).map(([name, { pid }]) => [name, pid]));
    },
    publish: async (name, target) => void (await separate.share('public', target, name)),
    call: async (method, path, body) => {
      const { status, json } = await separate.call(method, path, body);
      if (status < 200 || status > 299) throw new Error(`${method} ${path} was answered ${status}`);
      return (json ?? {}) as Record<string, unknown>;
    },
    restart: async (host) => {
      for (const part of [agent, gateway, router, control]) await part.stop();
      const startedMs = performance.now();
      await Promise.all(Object.values(parts).map((part) => part.start()));
      await untilServed(port, host, '/small');
      return performance.now() - startedMs;
    },
    addGateway,
    stop: () => separate.stop(),
  };
}
