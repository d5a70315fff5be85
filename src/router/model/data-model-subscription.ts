/**
 * Receives the data model from one controller. Subscribes at the preferred one (20505), renews the subscription before
 * it ends, changes to another controller if that one disconnects or stops responding, and starts again when a change is
 * missing.
 */
import { randomUUID } from 'node:crypto';
import type { Clock, Log } from '#base';
import { contentType, headerId, type Frame } from '#wire';
import { ctrlMessages } from '#wire/ctrl';
import type { Controller, Controllers, CtrlHandlers } from '../ctrl/controllers.ts';
import { countEntities, differencesOf } from './data-model-diff.ts';
import { DataModel, ENTITY_KINDS, type ChangeSet } from './data-model.ts';

export interface DataModelSubscriptionOptions {
  readonly model: DataModel;
  readonly controllers: Controllers;
  readonly clock: Clock;
  readonly log: Log;
  /**
   * Called when a model with a lower index replaced the current one: the network was restored, or is a different one.
   */
  onIndexReset(): void;
}

interface Subscription {
  readonly controller: Controller;
  /** Part of each message of 2.x controllers; undefined for older ones. */
  readonly id: string;
  readonly endsMs: number;
}

const DURATION_MS = 300_000;
const CHECK_INTERVAL_MS = 30_000;
const MAX_DIFFERENCES = 1_000;

export class DataModelSubscription {
  readonly #options: DataModelSubscriptionOptions;
  readonly #timer: NodeJS.Timeout;
  #current: Subscription | undefined;
  /** The model whose parts arrive at present. It takes the place of the current one when it is complete. */
  #staged: DataModel | undefined;
  /** The last index from the subscribed controller. */
  #reportedIndex = 0n;

  constructor(options: DataModelSubscriptionOptions) {
    this.#options = options;
    const { controllers } = options;
    controllers.onConnected(() => this.#check());
    controllers.onDisconnected((controller) => {
      if (this.#current?.controller !== controller) return;
      this.#current = undefined;
      this.#check();
    });
    this.#timer = setInterval(() => this.#check(), CHECK_INTERVAL_MS);
  }

  handlers(): CtrlHandlers {
    return new Map([
      [contentType.dataState, (frame, from) => this.#onState(frame, from)],
      [contentType.dataStateChangeSet, (frame, from) => this.#onChangeSet(frame, from)],
      [contentType.currentIndex, (frame, from) => this.#onCurrentIndex(frame, from)],
      [contentType.validateDataState, (frame, from) => this.#onValidate(frame, from)],
    ]);
  }

  inspect(name: string): unknown {
    const { model } = this.#options;
    const timeline = model.timelineId;
    if (name === 'router-data-model-index') {
      return {
        timeline,
        index: model.index,
        source: this.#current?.controller.id,
        sourceIndex: this.#reportedIndex,
      };
    }
    if (name !== 'router-data-model') return undefined;
    const entities = ENTITY_KINDS.map((kind) => [
      kind,
      Object.fromEntries(
        [...model.entities(kind)].map(([id, { value }]) => [id, { ...value, ...model.relationsOf(id) }]),
      ),
    ]);
    return { timeline, currentIndex: model.index, ...Object.fromEntries(entities) };
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #check(): void {
    const { controllers, clock } = this.#options;
    const best = controllers.best();
    if (best === undefined) return;
    const current = this.#current;
    if (current === undefined || clock.monotonicMs() + CHECK_INTERVAL_MS >= current.endsMs) {
      // A renewal keeps the same controller as long as it responds.
      this.#subscribe(
        current?.controller.isResponsive === true ? current.controller : best,
        current !== undefined,
      );
    } else if (!current.controller.isResponsive && best !== current.controller) {
      this.#options.log.info(
        { from: current.controller.id, to: best.id },
        'data model is received from another controller',
      );
      this.#subscribe(best, false);
    }
  }

  #subscribe(controller: Controller, isRenewal: boolean): void {
    const { model, clock } = this.#options;
    const renew = isRenewal && controller === this.#current?.controller;
    // A renewal does not interrupt a state that arrives in parts.
    if (!renew) this.#staged = undefined;
    const id = renew ? this.#current!.id : randomUUID();
    this.#current = { controller, id, endsMs: clock.monotonicMs() + DURATION_MS };
    const request = ctrlMessages.subscribeToDataModel.frame({
      currentIndex: model.index,
      subscriptionDurationSeconds: DURATION_MS / 1_000,
      renew,
      timelineId: model.timelineId,
      subscriptionId: id,
    });
    controller.channel.send(request);
  }

  #isOfSubscription(frame: Frame, from: Controller): boolean {
    const id = frame.headers.text(headerId.dataModel.subscriptionId);
    return this.#current?.controller === from && (id === undefined || id === this.#current.id);
  }

  #onState(frame: Frame, from: Controller): void {
    if (!this.#isOfSubscription(frame, from)) return;
    const whole = new DataModel();
    whole.replace(ctrlMessages.dataState.decode(frame.body));
    if (frame.headers.bool(headerId.dataModel.isContinued)) this.#staged = whole;
    else this.#replace(whole);
  }

  #replace(whole: DataModel): void {
    const { model, log } = this.#options;
    this.#staged = undefined;
    const isLower = model.takeOver(whole);
    log.debug({ index: String(model.index) }, 'data model received');
    if (!isLower) return;
    log.info({ index: String(model.index) }, 'the data model returned to an older version');
    this.#options.onIndexReset();
  }

  #onChangeSet(frame: Frame, from: Controller): void {
    const set = ctrlMessages.dataStateChangeSet.decode(frame.body);
    if (frame.headers.has(headerId.dataModel.isContinued)) {
      this.#onPart(set, frame, from);
      return;
    }
    // Keys have no index, and any controller can send them.
    if (!set.isSynthetic && !this.#isOfSubscription(frame, from)) return;
    if (this.#options.model.change(set) !== 'gap') return;
    this.#options.log.warn(
      { controllerId: from.id, index: String(set.index) },
      'a change of the data model is missing',
    );
    this.#subscribe(from, false);
  }

  /** A further part of a state, as our own control planes send it. */
  #onPart(set: ChangeSet, frame: Frame, from: Controller): void {
    const staged = this.#staged;
    if (staged === undefined || !set.isSynthetic || !this.#isOfSubscription(frame, from)) return;
    staged.change(set);
    if (!frame.headers.bool(headerId.dataModel.isContinued)) this.#replace(staged);
  }

  #onCurrentIndex(frame: Frame, from: Controller): void {
    if (!this.#isOfSubscription(frame, from)) return;
    this.#reportedIndex = frame.headers.u64(headerId.dataModel.index) ?? this.#reportedIndex;
  }

  /** Compares a controller's model with the one of this router. */
  #onValidate(frame: Frame, from: Controller): void {
    const { state, fix } = ctrlMessages.validateDataState.decode(frame.body);
    if (state === undefined) return;
    const { model, log } = this.#options;
    const right = new DataModel();
    right.replace(state);
    const diffs = differencesOf(model, right);
    const response = ctrlMessages.validateDataStateResponse.frame({
      origEntityCounts: countEntities(right),
      copyEntityCounts: countEntities(model),
      diffs: diffs.slice(0, MAX_DIFFERENCES),
    });
    from.channel.reply(frame, response);
    if (!fix || diffs.length === 0) return;
    log.warn(
      { controllerId: from.id, differences: diffs.length },
      'the data model was wrong and has been corrected',
    );
    this.#replace(right);
    this.#subscribe(from, false);
  }
}
