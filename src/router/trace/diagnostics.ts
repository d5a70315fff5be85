/** Diagnostics of a running router: traces of channels, to a file and to controllers, and the profiles. */
import type { Clock, Log } from '#base';
import type { RouterConfig } from '../config/router-config.ts';
import type { Controllers } from '../ctrl/controllers.ts';
import { CpuProfile } from '../profile/cpu-profile.ts';
import { MemoryProfile } from '../profile/memory-profile.ts';
import { ChannelTracer } from './channel-tracer.ts';
import { PipeTraces } from './pipe-traces.ts';

export interface DiagnosticsOptions {
  readonly routerId: string;
  readonly config: Pick<RouterConfig, 'trace' | 'profile'>;
  readonly controllers: Controllers;
  readonly clock: Clock;
  readonly log: Log;
}

export class Diagnostics {
  readonly #tracer: ChannelTracer | undefined;
  readonly #cpuProfile: CpuProfile | undefined;
  readonly #memoryProfile: MemoryProfile | undefined;
  /** Traces that controllers ask for. */
  readonly pipes: PipeTraces;

  private constructor(
    pipes: PipeTraces,
    tracer: ChannelTracer | undefined,
    cpuProfile: CpuProfile | undefined,
    memoryProfile: MemoryProfile | undefined,
  ) {
    this.pipes = pipes;
    this.#tracer = tracer;
    this.#cpuProfile = cpuProfile;
    this.#memoryProfile = memoryProfile;
  }

  /** Called before other parts start, so that their first messages are traced. Rejects like `ChannelTracer.open`. */
  static async open({ routerId, config, controllers, clock, log }: DiagnosticsOptions): Promise<Diagnostics> {
    const { trace, profile } = config;
    const tracer =
      trace === undefined ? undefined : await ChannelTracer.open({ path: trace.path, routerId, clock, log });
    tracer?.follow(controllers);
    const { cpuPath, memory } = profile;
    return new Diagnostics(
      new PipeTraces({ routerId, controllers, clock, log }),
      tracer,
      cpuPath === undefined ? undefined : await CpuProfile.start({ path: cpuPath, log }),
      memory === undefined ? undefined : new MemoryProfile({ ...memory, log }),
    );
  }

  async stopCpuProfile(): Promise<void> {
    await this.#cpuProfile?.stop();
  }

  /** Called after the controllers' channels are closed. */
  async close(): Promise<void> {
    await this.#memoryProfile?.close();
    await this.#tracer?.close();
    await this.#cpuProfile?.stop();
  }
}
