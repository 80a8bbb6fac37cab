// Renders the PNG icons from public/icon.svg: `node demo/build/icons.mjs`. Run it by hand after a change of the SVG.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright';
import { chromiumArgs, chromiumPath } from '../../scripts/chromium.mjs';

const folder = new URL('../public/', import.meta.url);
const svg = readFileSync(new URL('icon.svg', folder), 'utf8');

// The system may crop a maskable icon to a circle, so its background fills the square and its drawing is smaller.
const icons = [
  { name: 'icon-192.png', size: 192, inset: 0, ground: 'transparent' },
  { name: 'icon-512.png', size: 512, inset: 0, ground: 'transparent' },
  { name: 'icon-maskable-512.png', size: 512, inset: 48, ground: '#2b6149' },
];

const browser = await chromium.launch({ args: chromiumArgs, executablePath: chromiumPath });
try {
  for (const { name, size, inset, ground } of icons) {
    const page = await browser.newPage({ viewport: { width: size, height: size } });
    await page.setContent(
      `<style>html{background:${ground}}body{margin:${inset}px}svg{display:block;width:${size - 2 * inset}px}</style>${svg}`,
    );
    await page.screenshot({ path: fileURLToPath(new URL(name, folder)), omitBackground: true });
    await page.close();
  }
} finally {
  await browser.close();
}
