/**
 * The file in which a client keeps the addresses of the control planes, so that it starts while the one at which it
 * enrolled is away. Only the list that an authenticated control plane sent is written; the file has no secrets, but it
 * decides whom the client dials, so only its owner may access it.
 */
import { messageOf, type Log } from '#base';
import type { ShapeOf } from '#base/shapes';
import { keptControlPlanesShape } from '#domain/agent-shapes';
import { readPrivateFile, setAside, writeFileDurably } from '#net/files';

export const CONTROL_PLANES_FILE = 'control-planes.json';

type Kept = ShapeOf<typeof keptControlPlanesShape.schema>;

export class KeptControlPlanes {
  readonly #path: string;
  readonly #log: Log;
  readonly #kept: Kept | undefined;
  #saving: Promise<void> = Promise.resolve();

  private constructor(path: string, log: Log, kept: Kept | undefined) {
    this.#path = path;
    this.#log = log;
    this.#kept = kept;
  }

  /** A file that cannot be used is reported, and the list starts empty. Never rejects. */
  static async load(path: string, log: Log): Promise<KeptControlPlanes> {
    const file = await readPrivateFile(path);
    if ('problem' in file) {
      const { problem, isMissing } = file;
      if (!isMissing) log.warn({ file: path, problem }, 'the kept list of control planes is not used');
      return new KeptControlPlanes(path, log, undefined);
    }
    const read = keptControlPlanesShape.readText(file.text);
    if ('value' in read) return new KeptControlPlanes(path, log, read.value);
    const { problem, isNewer } = read;
    // A newer version may use it again.
    const movedTo = isNewer ? undefined : await setAside(path);
    log.warn({ file: path, problem, movedTo }, 'the kept list of control planes is not used');
    return new KeptControlPlanes(path, log, undefined);
  }

  /** The list of the client that enrolled at `home`; empty if another one kept it. */
  urlsOf(home: string): readonly string[] {
    return this.#kept?.home === home ? this.#kept.apiUrls : [];
  }

  /** Writes one list after the other. A failure is logged; the list is in use all the same. */
  save(home: string, apiUrls: readonly string[]): Promise<void> {
    const content = keptControlPlanesShape.numbered({ home, apiUrls: [...apiUrls] });
    this.#saving = this.#saving
      .then(() => writeFileDurably(this.#path, `${JSON.stringify(content)}\n`, 0o600))
      .catch((error: unknown) =>
        this.#log.warn(
          { file: this.#path, err: messageOf(error) },
          'the list of control planes could not be kept',
        ),
      );
    return this.#saving;
  }
}
