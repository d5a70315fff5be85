// Sent data that far ends do not acknowledge: what all circuits together may hold of it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AcknowledgementFrame, DataFrame, PayloadFrame } from './payload-codec.ts';
import { CircuitBudget } from './xgress-budget.ts';
import { XgressCounters } from './xgress-counters.ts';
import { Xgress } from './xgress-machine.ts';
import { XGRESS_DEFAULTS } from './xgress-options.ts';

const MIB = 1024 * 1024;
const BUDGET_BYTES = 4 * MIB;
const PAYLOAD_BYTES = 16_384;
const CIRCUITS = 64;

/** A sender whose payloads reach its receiver only by `pass`. */
class Flow {
  readonly sender: Xgress;
  readonly #receiver: Xgress;
  readonly #payloads: PayloadFrame[] = [];
  readonly #acknowledgements: AcknowledgementFrame[] = [];
  receivedBytes = 0;
  writtenBytes = 0;
  #mayWrite = true;

  constructor(budget: CircuitBudget) {
    const port = {
      canSend: () => true,
      sendPayload: (frame: PayloadFrame) => void this.#payloads.push(frame),
      sendAcknowledgement: (frame: DataFrame) =>
        void this.#acknowledgements.push(frame as AcknowledgementFrame),
      acknowledgementDue: () => {},
      deliver: (data: Uint8Array) => void (this.receivedBytes += data.length),
      deliverEnd: () => {},
      drained: () => void (this.#mayWrite = true),
    };
    this.sender = new Xgress('c', false, XGRESS_DEFAULTS, port, new XgressCounters(), budget);
    this.#receiver = new Xgress('c', true, XGRESS_DEFAULTS, port);
    this.#receiver.resume();
    this.sender.start(0);
    this.pass();
  }

  fill(bytes: number): void {
    for (let sent = 0; this.#mayWrite && sent < bytes; sent += PAYLOAD_BYTES) {
      this.#mayWrite = this.sender.write(new Uint8Array(PAYLOAD_BYTES), 0);
      this.writtenBytes += PAYLOAD_BYTES;
    }
  }

  pass(): void {
    for (const frame of this.#payloads.splice(0)) this.#receiver.onPayload(frame, 0);
    this.#receiver.flushAcknowledgements();
    for (const frame of this.#acknowledgements.splice(0)) this.sender.onAcknowledgement(frame, 0);
  }
}

test('far ends that acknowledge nothing hold at most the budget together, and each circuit continues once its own does', () => {
  const budget = new CircuitBudget(Infinity, BUDGET_BYTES);
  const flows = Array.from({ length: CIRCUITS }, () => new Flow(budget));
  for (let round = 0; round < 64; round += 1) for (const flow of flows) flow.fill(PAYLOAD_BYTES);
  const held = budget.unacknowledged.heldBytes;
  assert.ok(held > BUDGET_BYTES / 4 && held <= BUDGET_BYTES, `${held} bytes held`);

  const [honest, ...others] = flows as [Flow, ...Flow[]];
  for (let round = 0; round < 64; round += 1) {
    honest.fill(MIB);
    honest.pass();
  }
  while (!honest.sender.isEverythingSent) honest.pass();
  assert.ok(honest.receivedBytes > MIB, `${honest.receivedBytes} bytes passed beside the others`);
  assert.equal(honest.receivedBytes, honest.writtenBytes);

  for (const flow of others) flow.sender.abandonSending();
  assert.equal(budget.unacknowledged.heldBytes, 0);
  honest.fill(2 * MIB);
  assert.ok(budget.unacknowledged.heldBytes >= 2 * MIB, 'one circuit alone has its whole window');
});
