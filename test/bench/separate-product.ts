/**
 * All parts as processes of their own: control plane, gateway, router and agent over real TLS. How each is enrolled
 * and started stands in `test/support/separate.ts`.
 */
import { startSeparate as startParts } from '../support/separate.ts';
import { untilServed, type ProductOptions, type Started } from './product.ts';

const HOST = 'bench.share.localhost';

/**
 * Starts the parts and publishes the private service as `bench`; same contract as `startUp`: stopped and started
 * again, all four at once, and the second start is the one that is timed.
 */
export async function startSeparate(options: ProductOptions): Promise<Started> {
  const { folder, servicePort, cpuProfileDir } = options;
  const separate = await startParts({
    folder,
    logLevel: 'warn',
    nodeArgs: cpuProfileDir === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${cpuProfileDir}`],
  });
  const { control, gateway, router, agent, port } = separate;
  try {
    await separate.share('public', `http://127.0.0.1:${servicePort}`, 'bench');
    await untilServed(port, HOST, '/small');
    for (const part of [agent, gateway, router, control]) await part.stop();
    const startedMs = performance.now();
    await Promise.all([control, router, gateway, agent].map((part) => part.start()));
    await untilServed(port, HOST, '/small');
    const firstRequestMs = performance.now() - startedMs;
    const parts = { control, gateway, router, agent };
    const processes = new Map(Object.entries(parts).map(([name, { pid }]) => [name, pid]));
    return {
      firstRequestMs,
      product: { shape: 'separate', port, host: HOST, processes, stop: () => separate.stop() },
    };
  } catch (error) {
    await Promise.all([control, router, gateway, agent].map((part) => part.kill()));
    throw error;
  }
}
