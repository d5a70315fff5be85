/** Checks of the manifests of an installation in Kubernetes, for all values of the chart. */
import assert from 'node:assert/strict';
import { parseAllDocuments } from 'yaml';
import { checkCommand } from '../support/command-options.ts';

type Labels = Readonly<Record<string, string>>;
interface SecretSource {
  readonly secretName: string;
}
interface Volume {
  readonly name: string;
  readonly secret?: SecretSource;
  readonly configMap?: { readonly name: string };
  readonly persistentVolumeClaim?: { readonly claimName: string };
}
interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}
export interface Container {
  readonly name: string;
  readonly args: readonly string[];
  readonly securityContext: unknown;
  readonly resources: { readonly requests: object; readonly limits: object };
  readonly env?: readonly {
    readonly name: string;
    readonly valueFrom?: { readonly secretKeyRef?: { readonly name: string } };
  }[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
  readonly startupProbe?: Probe;
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
}
export interface PodSpec {
  readonly securityContext: Readonly<Record<string, unknown>>;
  readonly enableServiceLinks: boolean;
  readonly automountServiceAccountToken: boolean;
  readonly terminationGracePeriodSeconds: number;
  readonly initContainers?: readonly Container[];
  readonly containers: readonly Container[];
  readonly volumes: readonly Volume[];
}
interface Selector {
  readonly matchLabels: Labels;
}
export interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace: string; readonly labels: Labels };
  readonly data?: Labels;
  readonly spec: {
    readonly selector?: Selector & Labels;
    readonly podSelector?: Selector;
    readonly serviceName?: string;
    readonly clusterIP?: string;
    readonly ports?: readonly { readonly targetPort: string }[];
    readonly ingress?: readonly { readonly ports: readonly { readonly port: number }[] }[];
    readonly endpoints?: readonly { readonly port: string }[];
    readonly volumeClaimTemplates?: readonly { readonly metadata: { readonly name: string } }[];
    readonly template?: { readonly metadata: { readonly labels: Labels }; readonly spec: PodSpec };
  };
}
interface Workload extends Manifest {
  readonly spec: Manifest['spec'] & {
    readonly template: NonNullable<Manifest['spec']['template']>;
    readonly selector: Selector & Labels;
  };
}

export function manifestsOf(text: string): Manifest[] {
  return parseAllDocuments(text).flatMap((document) => {
    assert.deepEqual(document.errors, []);
    const value = document.toJS() as Manifest | null;
    return value === null ? [] : [value];
  });
}

export function workloadsOf(manifests: readonly Manifest[]): Workload[] {
  return manifests.filter((each): each is Workload => each.spec?.template !== undefined);
}

export function containersOf({ initContainers = [], containers }: PodSpec): readonly Container[] {
  return [...initContainers, ...containers];
}

/** The names of the Secrets that have to exist. */
export function secretsOf(manifests: readonly Manifest[]): ReadonlySet<string> {
  const specs = workloadsOf(manifests).map(({ spec }) => spec.template.spec);
  const mounted = specs.flatMap(({ volumes }) => volumes.map(({ secret }) => secret?.secretName));
  const variables = specs.flatMap(containersOf).flatMap(({ env = [] }) => env);
  const named = variables.map(({ valueFrom }) => valueFrom?.secretKeyRef?.name);
  return new Set([...mounted, ...named].filter((name) => name !== undefined));
}

/** Commands are those of the product, and everything that the manifests name is there. */
export function checkReferences(manifests: readonly Manifest[]): void {
  const names = manifests.map(({ kind, metadata }) => `${kind}/${metadata.name}`);
  assert.equal(new Set(names).size, names.length, 'each object has a name of its own');
  assert.equal(new Set(manifests.map(({ metadata }) => metadata.namespace)).size, 1);
  const workloads = workloadsOf(manifests);
  for (const workload of workloads) {
    const { template, selector, serviceName, volumeClaimTemplates = [] } = workload.spec;
    assert.ok(isPart(selector.matchLabels, template.metadata.labels), workload.metadata.name);
    if (serviceName !== undefined) {
      const service = manifests.find(
        ({ metadata, kind }) => kind === 'Service' && metadata.name === serviceName,
      );
      assert.equal(service?.spec.clusterIP, 'None', serviceName);
    }
    checkVolumes(template.spec, new Set(volumeClaimTemplates.map(({ metadata }) => metadata.name)), names);
    for (const container of containersOf(template.spec)) checkContainer(container);
  }
  for (const { kind, metadata, spec } of manifests) {
    const labels = kind === 'Service' ? spec.selector : (spec?.podSelector ?? spec?.selector)?.matchLabels;
    if (labels === undefined || kind === 'ServiceMonitor') continue;
    const found = workloads.filter(({ spec: { template } }) =>
      isPart(withoutPodName(labels), template.metadata.labels),
    );
    assert.equal(found.length, 1, `${kind} ${metadata.name} selects the pods of one part`);
    const ports = found[0]!.spec.template.spec.containers.flatMap((container) => container.ports ?? []);
    for (const { targetPort } of (kind === 'Service' && spec.ports) || [])
      assert.ok(
        ports.some(({ name }) => name === targetPort),
        `${metadata.name}: ${targetPort}`,
      );
    for (const { port } of spec.ingress?.flatMap((rule) => rule.ports) ?? [])
      assert.ok(
        ports.some(({ containerPort }) => containerPort === port),
        `${metadata.name}: ${port}`,
      );
  }
}

/** No pod has rights that it does not need, or gets variables that its program would take for its own. */
export function checkRights(manifests: readonly Manifest[]): void {
  assert.ok(!manifests.some(({ kind }) => kind === 'Secret'), 'secrets are named only');
  for (const { metadata, spec } of workloadsOf(manifests)) {
    const pod = spec.template.spec;
    assert.deepEqual(pod.securityContext, {
      runAsNonRoot: true,
      runAsUser: 65_532,
      runAsGroup: 65_532,
      fsGroup: 65_532,
      // Otherwise each start would open the files of identities to the group, and programs refuse such files.
      fsGroupChangePolicy: 'OnRootMismatch',
      seccompProfile: { type: 'RuntimeDefault' },
    });
    assert.deepEqual([pod.enableServiceLinks, pod.automountServiceAccountToken], [false, false]);
    assert.ok(pod.terminationGracePeriodSeconds > 30, metadata.name);
    for (const container of containersOf(pod)) {
      assert.deepEqual(container.securityContext, {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      assert.ok('memory' in container.resources.limits && 'cpu' in container.resources.requests);
    }
  }
}

function checkVolumes(
  { volumes, ...pod }: PodSpec,
  claims: ReadonlySet<string>,
  names: readonly string[],
): void {
  const mounted = containersOf({ volumes, ...pod }).flatMap(({ volumeMounts }) => volumeMounts);
  const defined = new Set([...volumes.map(({ name }) => name), ...claims]);
  assert.deepEqual(new Set(mounted.map(({ name }) => name)), defined);
  for (const { configMap, persistentVolumeClaim } of volumes) {
    if (configMap !== undefined) assert.ok(names.includes(`ConfigMap/${configMap.name}`));
    if (persistentVolumeClaim !== undefined)
      assert.ok(names.includes(`PersistentVolumeClaim/${persistentVolumeClaim.claimName}`));
  }
}

function checkContainer({ args, env = [], ports = [], volumeMounts, ...probes }: Container): void {
  for (const word of args)
    for (const { 1: name = '' } of word.matchAll(/\$\((\w+)\)/g))
      assert.ok(
        env.some((variable) => variable.name === name),
        `${word}: ${name}`,
      );
  const places = volumeMounts.map(({ mountPath }) => mountPath);
  checkCommand(args, places);
  for (const probe of [probes.startupProbe, probes.livenessProbe, probes.readinessProbe])
    if (probe !== undefined) assert.ok(isAmong(probe.httpGet.port, ports), args.join(' '));
}

function isAmong(port: string, ports: readonly { readonly name: string }[]): boolean {
  return ports.some(({ name }) => name === port);
}

function isPart(labels: Labels, of: Labels): boolean {
  return Object.entries(labels).every(([name, value]) => of[name] === value);
}

function withoutPodName(labels: Labels): Labels {
  return Object.fromEntries(
    Object.entries(labels).filter(([name]) => name !== 'statefulset.kubernetes.io/pod-name'),
  );
}
