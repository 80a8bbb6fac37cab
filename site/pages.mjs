// The pages of the site: the documents of the project as they stand, and a page of the reference for each public name, made by TypeDoc.
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, posix, relative } from 'node:path';
import { Application } from 'typedoc';
import { besideIndex, entries, inProcess } from '../scripts/bundle.mjs';
import { root, SetupError } from '../scripts/setup.mjs';

export const pagesFolder = join(root, 'site/pages');

/** Documents outside docs/, and where the site has them. */
const OF_PROJECT = ['README', 'ARCHITECTURE', 'CHANGELOG', 'CONTRIBUTING', 'SECURITY'];

/** Pages and pictures of the site, by their paths in the project. */
function pagesByPath() {
  const docs = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(?:md|png)$/.test(name))
    .map((name) => name.split('\\').join('/'));
  return new Map([
    ...docs.map((name) => /** @type {const} */ ([`docs/${name}`, pageOf(name)])),
    ...OF_PROJECT.map(
      (name) => /** @type {const} */ ([`${name}.md`, `project/${name.toLowerCase()}.md`]),
    ),
  ]);
}

const pageOf = (/** @type {string} */ name) =>
  name.endsWith('README.md') ? name.replace(/README\.md$/, 'index.md') : name;

const LINK = /(!?)\[((?:[^\][]|\[[^\]]*\])*)\]\(([^)\s]+)\)/g;

/**
 * Links to other pages lead there; those to files that the site does not have are text, because nobody knows where its reader has them.
 * @param {string} text @param {string} path of the document @param {ReadonlyMap<string, string>} pages
 */
function linked(text, path, pages) {
  const from = dirname(pages.get(path) ?? '');
  return text.replace(LINK, (whole, image, label, target) => {
    if (/^(?:https?:|mailto:|#)/.test(target)) return whole;
    const [file = '', hash] = target.split('#');
    const named = posix.normalize(posix.join(posix.dirname(path), file)).replace(/\/$/, '');
    const page = pages.get(named) ?? pages.get(`${named}/README.md`);
    if (page === undefined) return label;
    const found = relative(from, page) || posix.basename(page);
    return `${image}[${label}](${found.startsWith('.') ? found : `./${found}`}${hash ? `#${hash}` : ''})`;
  });
}

export async function makePages() {
  rmSync(pagesFolder, { recursive: true, force: true });
  const pages = pagesByPath();
  for (const [path, page] of pages) {
    const target = join(pagesFolder, page);
    mkdirSync(dirname(target), { recursive: true });
    if (path.endsWith('.png')) cpSync(join(root, path), target);
    else writeFileSync(target, linked(readFileSync(join(root, path), 'utf8'), path, pages));
  }
  await makeApi(join(pagesFolder, 'api'));
}

/** Options of typedoc-plugin-markdown. */
const ofMarkdown = {
  router: 'module',
  entryFileName: 'index',
  hidePageHeader: true,
  hideBreadcrumbs: true,
};

/** @param {string} out */
async function makeApi(out) {
  const app = await Application.bootstrapWithPlugins({
    plugin: ['typedoc-plugin-markdown'],
    entryPoints: [entries.index, ...Object.values({ ...besideIndex, ...inProcess })],
    tsconfig: join(root, 'site/tsconfig.json'),
    out,
    readme: 'none',
    excludeInternal: true,
    excludePrivate: true,
    disableSources: true,
    hideGenerator: true,
    skipErrorChecking: true,
    logLevel: 'Error',
    ...ofMarkdown,
  });
  const project = await app.convert();
  if (!project) throw new SetupError('TypeDoc could not read the public types.');
  await app.generateOutputs(project);
}
