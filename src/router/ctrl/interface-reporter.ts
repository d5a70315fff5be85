/**
 * Reports the machine's network interfaces to controllers (1052): when they differ from the last accepted report, and
 * again after `interfaceDiscovery.minReportInterval`.
 */
import { isDeepStrictEqual } from 'node:util';
import { messageOf, type Clock, type Log } from '#base';
import { CHANNEL_HEADERS } from '#wire';
import { ctrlMessages } from '#wire/ctrl';
import type { InterfaceDiscoveryConfig } from '../config/router-config.ts';
import type { Controllers } from './controllers.ts';
import { readNetworkInterfaces, type NetworkInterface } from './network-interfaces.ts';

export interface InterfaceReporterOptions {
  readonly config: InterfaceDiscoveryConfig;
  readonly controllers: Controllers;
  readonly requestTimeoutMs: number;
  readonly clock: Clock;
  readonly log: Log;
  readonly read?: () => NetworkInterface[];
}

export class InterfaceReporter {
  readonly #options: InterfaceReporterOptions;
  #timer: NodeJS.Timeout | undefined;
  #reported: NetworkInterface[] | undefined;
  #reportedMs = 0;
  #isReporting = false;

  constructor(options: InterfaceReporterOptions) {
    this.#options = options;
    const { config, controllers } = options;
    if (config.isDisabled) return;
    this.#timer = setInterval(() => void this.#check(), config.checkIntervalMs);
    // The first report does not wait for the first check.
    controllers.onConnected(() => {
      if (this.#reported === undefined) void this.#check();
    });
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async #check(): Promise<void> {
    const { config, controllers, requestTimeoutMs, clock, log, read = readNetworkInterfaces } = this.#options;
    const controller = controllers.best();
    if (controller === undefined || this.#isReporting) return;
    this.#isReporting = true;
    try {
      const interfaces = read();
      const isDue = clock.monotonicMs() - this.#reportedMs >= config.minReportIntervalMs;
      if (!isDue && isDeepStrictEqual(interfaces, this.#reported)) return;
      const request = ctrlMessages.updateRouterInterfaces.frame({ interfaces });
      const answer = await controller.channel.request(request, requestTimeoutMs);
      if (!answer.headers.bool(CHANNEL_HEADERS.resultSuccess)) throw new Error('the controller refused');
      this.#reported = interfaces;
      this.#reportedMs = clock.monotonicMs();
    } catch (error) {
      log.warn(
        { controllerId: controller.id, err: messageOf(error) },
        'network interfaces could not be reported',
      );
    } finally {
      this.#isReporting = false;
    }
  }
}
