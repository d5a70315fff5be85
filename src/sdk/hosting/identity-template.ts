/**
 * Templates of instance ids: `$tunneler_id.name` is the name of the host's identity, `$tunneler_id.appData[key]` a value
 * of its application data, empty if it has none. Other variables of a template are left for the time of the dial.
 */
import { FrontdoorError } from '#base';

/** What a template takes from the identity of the host. */
export interface TemplateIdentity {
  readonly name: string;
  /** Empty if it has none, or none that is an object. */
  readonly appData: Readonly<Record<string, unknown>>;
}

const MAX_INSTANCE_ID_CHARS = 1_024;

/** @throws FrontdoorError `invalid-template` if a bracket is not closed, or the result is too long. */
export function instanceIdOf(template: string, { name, appData }: TemplateIdentity): string {
  if (/\$tunneler_id\.appData\[[^\]]*$/.test(template))
    throw invalid(template, 'contains $tunneler_id.appData[ without a closing bracket');
  const text = template.replaceAll(
    /\$tunneler_id\.(?:name|appData\[([^\]]*)\])/g,
    (_variable, key: string | undefined) => (key === undefined ? name : valueOf(appData, key)),
  );
  if (text.length > MAX_INSTANCE_ID_CHARS) throw invalid(template, 'is too long');
  return text;
}

function valueOf(appData: TemplateIdentity['appData'], key: string): string {
  const value = Object.hasOwn(appData, key) ? appData[key] : '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function invalid(template: string, why: string): FrontdoorError {
  return new FrontdoorError('invalid', 'invalid-template', `the template "${template.slice(0, 100)}" ${why}`);
}
