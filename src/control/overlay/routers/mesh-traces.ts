/**
 * Traces of control channels here, and of channels of routers, which administrators toggle and follow. Messages are reported
 * without their data and secrets, as events of the kind `trace`; without a reader they are dropped.
 */
import { messageOf, type Clock, type Log } from '#base';
import { contentType, headerId, makeFrame, textOfBody, type Frame } from '#wire';
import { ctrlMessages, encodePipeTrace, toggledLine, traceToggleOf, type TraceToggle } from '#wire/ctrl';
import type { FabricEvents } from '../model/fabric-events.ts';
import type { ToggledTraces } from '../model/fabric-diagnostics.ts';
import type { ConnectedRouter, RouterRegistry } from '../mesh/connected-router.ts';

const ANSWER_TIMEOUT_MS = 5_000;
const MAX_ROUTERS_AT_ONCE = 64;
/** Longer answers to the administrator are cut. */
const MAX_TEXT_CHARS = 1_000_000;
/** Longer reports of routers are dropped. */
const MAX_REPORT_BYTES = 65_536;

export interface MeshTracesOptions {
  readonly controllerId: string;
  readonly routers: RouterRegistry;
  readonly events: FabricEvents;
  readonly clock: Clock;
  readonly log: Log;
}

export class MeshTraces {
  readonly #options: MeshTracesOptions;
  /** How to end the traces of own channels. */
  readonly #own = new WeakMap<ConnectedRouter, () => void>();

  constructor(options: MeshTracesOptions) {
    this.#options = options;
  }

  /** `wish` is the body of TogglePipeTraces. Never rejects for what a router answers. @throws FrontdoorError `protocol` */
  async toggle(wish: Uint8Array): Promise<ToggledTraces> {
    const { controllerId, routers } = this.#options;
    const toggle = traceToggleOf(wish);
    if (typeof toggle === 'string') return { isSuccess: false, text: toggle };
    const lines: string[] = [];
    const isApp = (id: string): boolean => {
      const isMatch = toggle.selectsApp(id);
      if (toggle.shows(isMatch)) lines.push(`App ${id} matched? ${isMatch}\n`);
      return isMatch;
    };
    if (isApp(controllerId)) lines.push(...this.#toggleOwn(toggle));
    const selected = [...routers.all()].filter(({ id }) => isApp(id));
    let isSuccess = true;
    for (let at = 0; at < selected.length; at += MAX_ROUTERS_AT_ONCE) {
      const some = selected.slice(at, at + MAX_ROUTERS_AT_ONCE);
      const answers = await Promise.all(some.map((router) => askToToggle(router, wish)));
      lines.push(...answers.map(({ text }) => text));
      isSuccess &&= answers.every((answer) => answer.isSuccess);
    }
    return { isSuccess, text: lines.join('').slice(0, MAX_TEXT_CHARS) };
  }

  /** TraceEvent. @throws FrontdoorError `protocol` */
  onEvent(_router: ConnectedRouter, { body }: Frame): void {
    const { events } = this.#options;
    if (!events.has('trace') || body.length > MAX_REPORT_BYTES) return;
    events.emit('trace', { contentType: ctrlMessages.traceEvent.decode(body).contentType, body });
  }

  #toggleOwn(toggle: TraceToggle): string[] {
    const { controllerId, routers } = this.#options;
    return [...routers.all()].flatMap((router) => {
      const isMatch = toggle.selectsPipe(router.id);
      const was = this.#own.has(router);
      if (isMatch && toggle.isOn && !was) this.#own.set(router, this.#observe(router));
      if (isMatch && !toggle.isOn) {
        this.#own.get(router)?.();
        this.#own.delete(router);
      }
      const is = this.#own.has(router);
      return toggle.shows(isMatch) ? [toggledLine(controllerId, router.id, { isMatch, was, is })] : [];
    });
  }

  #observe({ id, channel }: ConnectedRouter): () => void {
    const { controllerId, events, clock } = this.#options;
    return channel.observe((frame, direction) => {
      if (!events.has('trace') || frame.contentType === contentType.traceEvent) return;
      const at = { identity: controllerId, channel: id, atMs: clock.nowMs() };
      const body = encodePipeTrace(frame, direction, at);
      events.emit('trace', { contentType: frame.contentType, body });
    });
  }
}

async function askToToggle({ id, channel }: ConnectedRouter, body: Uint8Array): Promise<ToggledTraces> {
  try {
    const request = makeFrame(contentType.togglePipeTraces, { body });
    const answer = await channel.request(request, ANSWER_TIMEOUT_MS);
    if (answer.contentType !== contentType.result)
      return { isSuccess: false, text: `router ${id}: unexpected answer\n` };
    return {
      isSuccess: answer.headers.bool(headerId.channel.resultSuccess) === true,
      text: textOfBody(answer),
    };
  } catch (error) {
    return { isSuccess: false, text: `router ${id}: ${messageOf(error)}\n` };
  }
}
