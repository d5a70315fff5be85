/** Changes of a data model that give an identity services to host. */
import { grantChanges, identityChange, type DataModelChange } from './token-signer.ts';

/** Creates the identity, and services that it may bind, each by the id in `services` and with its config. */
export function hostChanges(
  identityId: string,
  services: Readonly<Record<string, object>>,
): DataModelChange[] {
  const changes: DataModelChange[] = [
    { case: 'configType', value: { id: 'v1', name: 'host.v1' } },
    { case: 'configType', value: { id: 'v2', name: 'host.v2' } },
    identityChange(identityId),
  ];
  for (const [id, config] of Object.entries(services))
    changes.push(...serviceChanges(id, config), ...grantChanges(`bind-${id}`, 'Bind', identityId, id));
  return changes;
}

/** A service, new or changed, with a `host.v1` config, or `host.v2` if it has several terminators. */
export function serviceChanges(id: string, config: object, isEncrypted = false): DataModelChange[] {
  const typeId = 'terminators' in config ? 'v2' : 'v1';
  const dataJson = JSON.stringify(config);
  const configId = `config-${id}`;
  return [
    { case: 'config', value: { id: configId, name: configId, typeId, dataJson } },
    { case: 'service', value: { id, name: id, encryptionRequired: isEncrypted, configs: [configId] } },
  ];
}
