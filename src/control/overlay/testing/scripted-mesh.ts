/** Scripted routers with links between them, and circuits over these. */
import { contentType, makeFrame, textOfBody, type Frame } from '#wire';
import { ctrlMessages, FaultSubject, type CtrlBody } from '#wire/ctrl';
import type { TerminatorStrategy } from '#domain';
import type { FabricTerminator } from '../records/terminator-store.ts';
import { OverlayWorld, type OverlayStart } from './overlay-world.ts';
import type { ScriptedRouter } from './scripted-router.ts';

const NS_PER_MS = 1_000_000;

export class ScriptedMesh {
  readonly world: OverlayWorld;
  readonly #routers = new Map<string, ScriptedRouter>();

  private constructor(world: OverlayWorld) {
    this.world = world;
  }

  static async open(routerIds: readonly string[], options: OverlayStart = {}): Promise<ScriptedMesh> {
    const world = await OverlayWorld.open();
    const mesh = new ScriptedMesh(world);
    await world.start(options);
    for (const id of routerIds) await mesh.connect(id);
    return mesh;
  }

  close(): Promise<void> {
    return this.world.close();
  }

  async connect(id: string): Promise<ScriptedRouter> {
    const router = await this.world.router(id);
    this.#routers.set(id, router);
    return router;
  }

  router(id: string): ScriptedRouter {
    return this.#routers.get(id)!;
  }

  /** `a-b`: dialed by a, with that id; each end reports `latencyMs`. */
  async link(id: string, latencyMs = 0, iteration = 1): Promise<void> {
    const [from, to] = id.split('-') as [string, string];
    const link = { id, destRouterId: to, linkProtocol: 'tls', dialAddress: `tls:${to}:1`, iteration };
    this.router(from).send(ctrlMessages.routerLinks.frame({ links: [link] }));
    await this.router(from).settle();
    await this.measure(from, { [id]: latencyMs });
    await this.measure(to, { [id]: latencyMs });
  }

  async links(latencies: Readonly<Record<string, number>>): Promise<void> {
    for (const [id, latencyMs] of Object.entries(latencies)) await this.link(id, latencyMs);
  }

  /** Reports latencies as the router's metrics do. */
  async measure(routerId: string, latenciesMs: Readonly<Record<string, number>>): Promise<void> {
    const histograms = Object.fromEntries(
      Object.entries(latenciesMs).map(([id, ms]) => [`link.${id}.latency`, { mean: ms * NS_PER_MS }]),
    );
    this.router(routerId).send(ctrlMessages.metrics.frame({ sourceId: routerId, histograms }));
    await this.router(routerId).settle();
  }

  async fault(
    routerId: string,
    id: string,
    subject: FaultSubject = FaultSubject.LINK_FAULT,
    iteration = 0,
  ): Promise<void> {
    this.router(routerId).send(ctrlMessages.fault.frame({ subject, id, iteration }));
    await this.router(routerId).settle();
  }

  service(id: string, strategy: TerminatorStrategy = 'smartrouting'): void {
    this.world.model.setFabricService({ id, name: `name-${id}`, terminatorStrategy: strategy });
  }

  terminator(id: string, routerId: string, more: Partial<FabricTerminator> = {}): void {
    this.world.model.setFabricTerminator({
      id,
      serviceId: 'svc',
      routerId,
      binding: 'transport',
      address: `tcp:${id}:1`,
      instanceId: '',
      cost: 0,
      precedence: 0,
      peerData: new Map(),
      ...more,
    });
  }

  /** A router dials; the response is awaited separately. */
  dial(ingressId: string, service = 'svc'): void {
    this.router(ingressId).send(ctrlMessages.circuitRequest.frame({ service }));
  }

  /** Establishes a circuit over these routers, each of which responds with success. */
  async circuit(routerIds: readonly string[], service = 'svc'): Promise<CtrlBody<'route'>[]> {
    this.dial(routerIds[0]!, service);
    const routes: CtrlBody<'route'>[] = [];
    for (const id of routerIds) routes.push(await this.router(id).route());
    await this.router(routerIds[0]!).frame(contentType.circuitSuccess);
    return routes;
  }

  /** Returns the reason of the refusal. */
  async refusal(routerId: string): Promise<string> {
    return textOfBody(await this.router(routerId).frame(contentType.circuitFailed));
  }

  request(routerId: string, frame: Frame | number): Promise<Frame> {
    const request = typeof frame === 'number' ? makeFrame(frame) : frame;
    return this.router(routerId).channel.request(request, 5_000);
  }
}
