/**
 * The world of the test files that share a process: the first file starts it, and the last one closes it. Each file
 * finds its programs running, and an account without shares, auth providers and custom frontends. The programs of an
 * identity world log at level debug.
 */
import { clearAccount } from './cleared-account.ts';
import { holdWorld } from './held-world.ts';
import { startIdentityWorld, type IdentityWorld, type SecondGateway } from './identity-world.ts';
import { startSeparate, type Separate } from './separate.ts';

export { releaseWorld } from './held-world.ts';

export interface IdentityPair {
  readonly world: IdentityWorld;
  readonly second: SecondGateway;
}

/** Files that call this share one world, which has one gateway. */
export const sharedIdentityWorld = (): Promise<IdentityWorld> =>
  holdWorld(async () => {
    const world = await startIdentityWorld({ logLevel: 'debug' });
    return { world, tidy: () => tidy(world.parts), close: () => world.close() };
  });

/** Files that call this share one world, whose gateway has two workers. */
export const sharedIdentityWorkers = (): Promise<IdentityWorld> =>
  holdWorld(async () => {
    const world = await startIdentityWorld({ logLevel: 'debug', gatewayArgs: ['--workers', '2'] });
    return { world, tidy: () => tidy(world.parts), close: () => world.close() };
  });

/** Files that call this share one world, which has a second gateway. */
export const sharedIdentityPair = (): Promise<IdentityPair> =>
  holdWorld(async () => {
    const world = await startIdentityWorld({ logLevel: 'debug' });
    try {
      const second = await world.startGateway('second');
      return { world: { world, second }, tidy: () => tidy(world.parts), close: () => world.close() };
    } catch (error) {
      await world.close();
      throw error;
    }
  });

/** Files that call this share the four programs with their default options. */
export const sharedSeparate = (): Promise<Separate> =>
  holdWorld(async () => {
    const parts = await startSeparate();
    return { world: parts, tidy: () => tidy(parts), close: () => parts.stop() };
  });

async function tidy({ control, router, gateway, agent, call }: Separate): Promise<void> {
  for (const part of [control, router, gateway, agent]) if (!part.isRunning) await part.start();
  await clearAccount(call, ['custom-frontends', 'shares', 'auth-providers']);
}
