/**
 * `edge.db`: the data model on disk, as a gzipped DataState that OpenZiti's routers can read and write, too. Loaded at
 * start, and written at intervals and at the stop when it has changed; values that the router itself keeps are written at
 * once, because nobody sends them again. A file that cannot be read counts as missing, because controllers send the model again.
 */
import { once } from 'node:events';
import { readFile, stat } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { createGzip, gunzip } from 'node:zlib';
import { messageOf, type Log } from '#base';
import { setAside, writeFileDurably } from '#net/files';
import { ctrlMessages, type CtrlInit } from '#wire/ctrl';
import { weightOf, type DataModel } from './data-model.ts';

export interface DataModelFileOptions {
  readonly path: string;
  readonly saveIntervalMs: number;
  readonly model: DataModel;
  readonly log: Log;
}

const MAX_FILE_BYTES = 256 << 20;
const MAX_STATE_BYTES = 1 << 30;

/** Changes of kept values within this time are written together. */
const KEPT_DELAY_MS = 500;

/** Weight of the events that are encoded in one turn of the loop: about a millisecond. */
export const MAX_SLICE_WEIGHT = 100;
/** Pause after each slice, so that the traffic of this router has most of the time. */
const SLICE_PAUSE_MS = 4;
/** Periodic writes may use this share of the time. */
const MAX_SAVE_LOAD = 0.03;

const decompress = promisify<Uint8Array, { maxOutputLength: number }, Buffer>(gunzip);

export class DataModelFile {
  readonly #options: DataModelFileOptions;
  #timer: NodeJS.Timeout | undefined;
  #keptTimer: NodeJS.Timeout | undefined;
  #leaveModel = (): void => {};
  #savedIndex = 0n;
  #savedTimelineId = '';
  #savedKept = 0;
  #saving: Promise<void> | undefined;
  #notBeforeMs = 0;
  #isClosing = false;

  private constructor(options: DataModelFileOptions) {
    this.#options = options;
  }

  /** Fills the model from the file, then saves it periodically until it is closed. */
  static async open(options: DataModelFileOptions): Promise<DataModelFile> {
    const file = new DataModelFile(options);
    await file.#load();
    file.#timer = setInterval(() => {
      if (performance.now() >= file.#notBeforeMs) void file.save();
    }, options.saveIntervalMs);
    file.#leaveModel = options.model.onKept(() => file.#saveSoon());
    return file;
  }

  /** Writes the model if it changed since the last time. Never rejects. */
  save(): Promise<void> {
    this.#saving ??= this.#save().finally(() => {
      this.#saving = undefined;
    });
    return this.#saving;
  }

  /** Writes what changed since the last time, so that the next start serves it without a controller. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    clearTimeout(this.#keptTimer);
    this.#leaveModel();
    this.#isClosing = true;
    await this.#saving;
    await this.save();
  }

  #saveSoon(): void {
    this.#keptTimer ??= setTimeout(() => {
      this.#keptTimer = undefined;
      // A write that continues may not contain the latest values.
      void this.save().then(() => this.save());
    }, KEPT_DELAY_MS);
  }

  async #load(): Promise<void> {
    const { path, model, log } = this.#options;
    try {
      const { size } = await stat(path);
      if (size > MAX_FILE_BYTES) throw new Error(`the file has ${size} bytes, which is too many`);
      const bytes = await decompress(await readFile(path), { maxOutputLength: MAX_STATE_BYTES });
      model.replace(ctrlMessages.dataState.decode(bytes));
      this.#savedIndex = model.index;
      this.#savedTimelineId = model.timelineId;
      log.info({ file: path, index: String(model.index) }, 'data model loaded');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT')
        log.info({ file: path }, 'no data model on disk yet');
      else {
        const movedTo = await setAside(path);
        log.error({ file: path, movedTo, err: messageOf(error) }, 'the data model on disk cannot be read');
      }
    }
  }

  async #save(): Promise<void> {
    const { path, model, log } = this.#options;
    const { index, timelineId, keptChanges } = model;
    const isSaved =
      index === this.#savedIndex && timelineId === this.#savedTimelineId && keptChanges === this.#savedKept;
    if (index === 0n || isSaved) return;
    try {
      const bytes = await this.#compressedState();
      // Another model took its place in the meantime. It is written at the next interval.
      if (bytes === undefined) return;
      await writeFileDurably(path, bytes);
      this.#savedIndex = index;
      this.#savedTimelineId = timelineId;
      this.#savedKept = keptChanges;
    } catch (error) {
      log.error({ file: path, err: messageOf(error) }, 'the data model could not be written');
    }
  }

  /**
   * Returns the state as of the index at the call. Changes may be applied in the meantime: controllers send these again to a
   * router that starts with this index, and all of them can be applied twice. Concatenated messages decode as one message.
   * Returns undefined if another model took the place of this one.
   */
  async #compressedState(): Promise<Buffer | undefined> {
    const { model } = this.#options;
    const { generation } = model;
    const gzip = createGzip();
    const compressed = buffer(gzip);
    let [usedMs, weight] = [0, 0];
    let startMs = performance.now();
    const write = async (state: CtrlInit<'dataState'>): Promise<void> => {
      const bytes = ctrlMessages.dataState.encode(state);
      usedMs += performance.now() - startMs;
      if (!gzip.write(bytes)) await once(gzip, 'drain');
    };
    await write(model.origin());
    let events = [];
    for (const event of model.events()) {
      events.push(event);
      weight += weightOf(event);
      if (weight < MAX_SLICE_WEIGHT) continue;
      await write({ events });
      events = [];
      weight = 0;
      await (this.#isClosing ? nextTurn() : delay(SLICE_PAUSE_MS));
      if (model.generation !== generation) break;
      startMs = performance.now();
    }
    await write({ events });
    this.#notBeforeMs = performance.now() + usedMs / MAX_SAVE_LOAD;
    gzip.end();
    const bytes = await compressed;
    return model.generation === generation ? bytes : undefined;
  }
}
