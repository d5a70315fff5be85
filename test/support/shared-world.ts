/**
 * The world of the test files that share a process: the first file starts it, and the last one closes it. Each file
 * finds its programs running, and an account without shares, auth providers and custom frontends. The programs of an
 * identity world log at level debug.
 */
import { currentFile } from '../../tools/test-current-file.ts';
import { startIdentityWorld, type IdentityWorld, type SecondGateway } from './identity-world.ts';
import { startSeparate, type Separate } from './separate.ts';

export interface IdentityPair {
  readonly world: IdentityWorld;
  readonly second: SecondGateway;
}

interface Held<World> {
  readonly world: World;
  readonly parts: Separate;
  close(): Promise<void>;
}

/** What a file leaves in the account, in an order in which it can be deleted. */
const LEFT_BEHIND = ['custom-frontends', 'shares', 'auth-providers'] as const;

let held: Promise<Held<unknown>> | undefined;

/** Files that call this share one world, which has one gateway. */
export const sharedIdentityWorld = (): Promise<IdentityWorld> =>
  hold(async () => {
    const world = await startIdentityWorld({ logLevel: 'debug' });
    return { world, parts: world.parts, close: () => world.close() };
  });

/** Files that call this share one world, whose gateway has two workers. */
export const sharedIdentityWorkers = (): Promise<IdentityWorld> =>
  hold(async () => {
    const world = await startIdentityWorld({ logLevel: 'debug', gatewayArgs: ['--workers', '2'] });
    return { world, parts: world.parts, close: () => world.close() };
  });

/** Files that call this share one world, which has a second gateway. */
export const sharedIdentityPair = (): Promise<IdentityPair> =>
  hold(async () => {
    const world = await startIdentityWorld({ logLevel: 'debug' });
    try {
      const second = await world.startGateway('second');
      return { world: { world, second }, parts: world.parts, close: () => world.close() };
    } catch (error) {
      await world.close();
      throw error;
    }
  });

/** Files that call this share the four programs with their default options. */
export const sharedSeparate = (): Promise<Separate> =>
  hold(async () => {
    const parts = await startSeparate();
    return { world: parts, parts, close: () => parts.stop() };
  });

/**
 * Leaves the world as the next file expects it, or closes it when no file follows. Call it when the file has closed its own
 * things.
 */
export async function releaseWorld(): Promise<void> {
  const given = await held?.catch(() => undefined);
  if (given === undefined || currentFile.isLast) return close();
  const { control, router, gateway, agent, call } = given.parts;
  for (const part of [control, router, gateway, agent]) if (!part.isRunning) await part.start();
  for (const kind of LEFT_BEHIND) {
    for (let left = await listOf(); left.length > 0; left = await listOf())
      for (const { id, token } of left) await done('DELETE', `/${kind}/${token ?? id}`);

    async function listOf(): Promise<readonly { id: string; token?: string }[]> {
      return ((await done('GET', `/${kind}`)) as { content: { id: string; token?: string }[] }).content;
    }
  }

  async function done(method: 'GET' | 'DELETE', path: string): Promise<unknown> {
    const { status, json, text } = await call(method, path);
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`);
    return json;
  }
}

async function hold<World>(start: () => Promise<Held<World>>): Promise<World> {
  currentFile.closeHeld = close;
  held ??= start();
  return (await held).world as World;
}

async function close(): Promise<void> {
  const given = await held?.catch(() => undefined);
  held = undefined;
  currentFile.closeHeld = undefined;
  await given?.close();
}
