// The packages inside a bundle: their licences, and a bill of materials.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Licences that only require that their text is distributed with the code. */
const ALLOWED = new Set(['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT']);

/** @typedef {{ folder: string; name: string; version: string; licence: string }} Package */

/** @param {Iterable<string>} modules @returns {readonly Package[]} by name */
export function packagesIn(modules) {
  const folders = new Set([...modules].map(folderOf).filter((each) => each !== undefined));
  return [...folders].sort().map((folder) => {
    const text = readFileSync(join(folder, 'package.json'), 'utf8');
    const { name, version, license } = JSON.parse(text);
    return { folder, name, version, licence: String(license) };
  });
}

/** Folder of the package that a module belongs to. @param {string} id */
function folderOf(id) {
  const found = /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+(?=[\\/])/.exec(
    id.replace(/^\0/, ''),
  );
  return found?.[0];
}

/**
 * The licence texts that are distributed with the bundle.
 * @param {readonly Package[]} packages
 * @throws Error for a package whose licence is not allowed
 */
export function licenceTexts(packages) {
  const texts = packages.map(({ folder, name, version, licence }) => {
    if (!ALLOWED.has(licence))
      throw new Error(
        `${name} ${version} has the licence ${licence}, which is not among those that may be bundled (scripts/third-party.mjs).`,
      );
    const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
    const text = file === undefined ? '' : `\n\n${readFileSync(join(folder, file), 'utf8').trim()}`;
    return `${name} ${version} (${licence})${text}`;
  });
  return `${texts.join('\n\n----------------------------------------\n\n')}\n`;
}

/**
 * A software bill of materials in CycloneDX 1.5. Its text depends on the packages only.
 * @param {readonly Package[]} packages @param {{ name: string; version: string }} of
 */
export function billOfMaterials(packages, { name, version }) {
  const purl = (/** @type {{ name: string; version: string }} */ each) =>
    `pkg:npm/${each.name.replace('@', '%40')}@${each.version}`;
  const component = { type: 'library', name, version, purl: purl({ name, version }) };
  const components = packages.map((each) => ({
    type: 'library',
    'bom-ref': purl(each),
    name: each.name,
    version: each.version,
    purl: purl(each),
    licenses: [{ license: { id: each.licence } }],
  }));
  const bill = { bomFormat: 'CycloneDX', specVersion: '1.5', version: 1, metadata: { component } };
  return `${JSON.stringify({ ...bill, components }, undefined, 2)}\n`;
}
