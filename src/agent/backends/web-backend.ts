/** The files of a folder of this machine: the mode `web`. The agent is the HTTP server; no port is opened. */
import { messageOf, type Log } from '#base';
import type { BackendOfTarget } from './backend.ts';
import { TargetFailure } from './target-connection.ts';
import type { FolderOptions } from './web/folder-answer.ts';
import type { FolderServer } from './web/folder-server.ts';
import { checkFolder, FolderRefusal, folderRefusal, type FolderRules } from './web/served-folder.ts';

/** How many checks of one folder may wait for its file system, such as one of a network that is away. */
const MAX_WAITING = 64;

export const webBackend: BackendOfTarget = (target, isOwn, parts, settings) => {
  const { allowFolders, dataDir, log, times } = parts;
  const { connectTimeoutSeconds } = settings.times;
  if (settings.proxyProtocol !== 'off')
    return { problem: 'proxyProtocol needs a service, and the target is a folder' };
  if (!('folder' in target)) return { problem: `${target.text} is not a folder` };
  const { folder, options: chosen, text } = target;
  const rules: FolderRules = { folder, only: isOwn ? undefined : allowFolders, privateFolder: dataDir };
  const refusal = folderRefusal(rules);
  if (refusal !== undefined) return { problem: refusal };
  const options = {
    ...rules,
    listing: chosen.includes('listing'),
    singlePage: chosen.includes('single-page'),
  };
  const served = new ServedFolder(options, log);
  return {
    describe: () => ({ target: text, isOwn, connecting: `${connectTimeoutSeconds} s` }),
    open: (onOpen, onFailed) =>
      served.look(connectTimeoutSeconds * 1_000, onFailed, () =>
        served.server().then((server) => () => onOpen(server.connect())),
      ),
    health: (_known, report) =>
      served.look(
        times.checkTimeoutMs,
        ({ message }) => report({ type: 'failed', reason: message }),
        async () => () => report({ type: 'passed' }),
      ),
  };
};

class ServedFolder {
  readonly #options: FolderOptions;
  readonly #log: Log;
  #server: Promise<FolderServer> | undefined;
  #waiting = 0;

  constructor(options: FolderOptions, log: Log) {
    this.#options = options;
    this.#log = log;
  }

  /** Its code is loaded with the first connection. */
  async server(): Promise<FolderServer> {
    this.#server ??= import('./web/folder-server.ts').then(
      ({ FolderServer: Server }) => new Server(this.#options, this.#log),
    );
    return this.#server;
  }

  /**
   * Checks the folder, awaits `prepare`, and calls what that returns, or `onFailed`. The returned function cancels (then neither
   * is called).
   */
  look(
    timeoutMs: number,
    onFailed: (failure: TargetFailure) => void,
    prepare: () => Promise<() => void>,
  ): () => void {
    const { folder } = this.#options;
    let isSettled = false;
    const settle = (next: () => void): void => {
      clearTimeout(timer);
      if (isSettled) return;
      isSettled = true;
      next();
    };
    const fail = (failure: TargetFailure): void => settle(() => onFailed(failure));
    const timer = setTimeout(() => {
      fail(new TargetFailure('timeout', `the folder ${folder} was not read within ${timeoutMs} ms`));
    }, timeoutMs);
    if (this.#waiting >= MAX_WAITING) {
      const reason = `the file system of the folder ${folder} does not respond`;
      process.nextTick(() => fail(new TargetFailure('timeout', reason)));
    } else {
      this.#waiting += 1;
      const checked = checkFolder(this.#options).finally(() => (this.#waiting -= 1));
      checked.then(prepare).then(settle, (error: unknown) => fail(failureOf(error)));
    }
    return () => settle(() => {});
  }
}

function failureOf(error: unknown): TargetFailure {
  const isRefused = error instanceof FolderRefusal && !error.isAllowed;
  return new TargetFailure(isRefused ? 'not-allowed' : 'unreachable', messageOf(error), { cause: error });
}
