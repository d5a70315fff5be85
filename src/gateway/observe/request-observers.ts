/** Combines several observers into one. Each gets every event, in this order. */
import type { Failure } from '../answers/failure-table.ts';
import type { RequestHead } from '../http/request-head-policy.ts';
import type { RequestObserver, RequestRecord } from '../exchange/request-record.ts';

export class RequestObservers implements RequestObserver {
  readonly #observers: readonly RequestObserver[];

  constructor(observers: readonly RequestObserver[]) {
    this.#observers = observers;
  }

  began(record: RequestRecord, head: RequestHead): void {
    for (const observer of this.#observers) observer.began(record, head);
  }

  refused(record: RequestRecord, head: RequestHead): void {
    for (const observer of this.#observers) observer.refused(record, head);
  }

  served(record: RequestRecord): void {
    for (const observer of this.#observers) observer.served(record);
  }

  failed(record: RequestRecord, failure: Failure): void {
    for (const observer of this.#observers) observer.failed(record, failure);
  }

  gone(record: RequestRecord): void {
    for (const observer of this.#observers) observer.gone(record);
  }

  flush(): void {
    for (const observer of this.#observers) observer.flush();
  }
}
