import type { Locator, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { chromiumPath } from './browser.ts';
import { askInPlayground, openMode, readFacts } from './local-page-browser.ts';
import { useLocalPage } from './local-page-program.ts';

const playsH264 = (page: Page): Promise<boolean> =>
  page.evaluate(() => document.createElement('video').canPlayType('video/mp4; codecs="avc1.42C028"') !== '');

/** Plays the video without sound. Returns its size, its length in seconds, and whether it advances. */
const played = (video: Locator) =>
  video.evaluate(async (player: HTMLVideoElement) => {
    player.muted = true;
    await player.play();
    return [player.videoWidth, player.videoHeight, player.duration, player.currentTime > 0];
  });

describe.skipIf(chromiumPath === undefined)('the modes of the playground', () => {
  const program = useLocalPage();

  /** Checks the cost, the id and the times of the last response, and that its receipt has the cost. */
  const checkFacts = async (page: Page, endpoint: string): Promise<void> => {
    const facts = await readFacts(page);
    expect(facts.get('State')).toBe('done');
    expect(facts.get('Status')).toBe('200');
    expect(facts.get('First byte')).toMatch(/^\d+ ms$/);
    const cost = facts.get('Cost')?.slice(1);
    expect(Number(cost)).toBeGreaterThan(0);
    const panel = page.getByRole('tabpanel');
    await panel.getByText('Receipt', { exact: true }).click();
    await panel.locator('.receipt pre').filter({ hasText: '"usage"' }).waitFor();
    const receipt = JSON.parse((await panel.locator('.receipt pre').textContent()) ?? '');
    expect(receipt).toMatchObject({ id: facts.get('Request'), cost_usd: cost, endpoint, outcome: 'charged' });
    // The row arrives with the events of the ledger, which may come after the receipt. A link marks only an existing row.
    const row = `.row.settled[data-request="${facts.get('Request')}"]`;
    await page.locator(row).waitFor();
    await panel.getByRole('link', { name: facts.get('Request') }).click();
    await page.locator(`${row}:target`).waitFor();
  };

  test.each([
    ['Responses', 'responses', 'text'],
    ['Images', 'images_generations', 'image'],
    ['Speech', 'audio_speech', 'speech'],
    ['Video', 'videos', 'video'],
  ])('CAT-2 %s offers exactly the models of the public list with its protocol', async (mode, protocol, kind) => {
    const page = program.page();
    const { data } = await (await fetch(`${program.url()}/api/models`)).json();
    type Listed = { readonly id: string; readonly kind: string; readonly protocols: readonly string[] };
    const listed = (data as readonly Listed[]).filter(
      (model) => model.kind === kind && model.protocols.includes(protocol),
    );
    const panel = await openMode(page, mode);
    const offered = panel.getByLabel('Model', { exact: true }).locator('option');
    await expect
      .poll(async () => (await offered.allTextContents()).toSorted())
      .toEqual(listed.map(({ id }) => id).toSorted());
  });

  test('BILL-15 a response of the Responses API streams, with its cost and receipt', async () => {
    const page = program.page();
    const panel = await openMode(page, 'Responses');
    await askInPlayground(page, 'Say hello [[pause 20]]');
    expect(await panel.locator('.answer-text').textContent()).toContain('Say hello');
    await checkFacts(page, '/v1/responses');
  });

  test('IMG-2 an image has the chosen size, and its cost and receipt are shown', async () => {
    const page = program.page();
    const panel = await openMode(page, 'Images');
    await panel.getByLabel('Model', { exact: true }).selectOption('gpt-image-2-fixed');
    await panel.getByLabel('Size').selectOption('1280x720');
    await askInPlayground(page, 'A lighthouse');
    const picture = panel.getByRole('img', { name: 'Generated' });
    await expect
      .poll(() => picture.evaluate((image: HTMLImageElement) => [image.naturalWidth, image.naturalHeight].join('x')))
      .toBe('1280x720');
    await checkFacts(page, '/v1/images/generations');
  });

  test('AUD-3 speech plays in the page, and its cost comes from the receipt', async () => {
    const page = program.page();
    const panel = await openMode(page, 'Speech');
    await panel.getByLabel('Voice').selectOption('nova');
    await askInPlayground(page, 'Good morning from the gateway');
    await expect
      .poll(() => panel.locator('audio').evaluate((audio: HTMLAudioElement) => audio.duration))
      .toBeGreaterThan(0.5);
    await checkFacts(page, '/v1/audio/speech');
  });

  test('VID-3 a video shows its job until it plays, with its cost', async () => {
    const page = program.page();
    const panel = await openMode(page, 'Video');
    await panel.getByLabel('Size').selectOption('720x1280');
    await panel.locator('[name=prompt]').fill('A paper boat [[takes 1500]]');
    await panel.getByRole('button', { name: 'Send' }).click();
    await panel.getByRole('status').filter({ hasText: 'in progress' }).waitFor();
    await panel.locator('.answer.done').waitFor();
    expect(await panel.locator('.job').textContent()).toContain('completed720x1280, 4 s');
    expect(await panel.locator('video').getAttribute('src')).toMatch(/^blob:/);
    await checkFacts(page, '/v1/videos');
    if (await playsH264(page)) await expect.poll(() => played(panel.locator('video'))).toEqual([720, 1280, 4, true]);
    else console.log('This Chromium has no H.264: the test does not play the video.');
  });

  test('VID-3 a file that the browser cannot play is offered as a download', async () => {
    const page = program.page();
    const panel = await openMode(page, 'Video');
    await page.route('**/v1/videos/*/content', (route) => route.fulfill({ contentType: 'video/mp4', body: 'no film' }));
    await askInPlayground(page, 'A paper boat [[takes 100]]');
    await panel.getByText('The browser cannot play this file. Download it.').waitFor();
    expect(await panel.locator('video').isHidden()).toBe(true);
    expect(await panel.getByRole('link', { name: 'Download' }).getAttribute('download')).toMatch(/^video_.+\.mp4$/);
  });

  test('VID-3 a failed video shows the error of its job, and costs nothing', async () => {
    const page = program.page();
    const panel = await openMode(page, 'Video');
    const facts = await askInPlayground(page, 'A boat [[video-fails]] [[takes 500]]');
    expect(facts.get('State')).toBe('failed');
    expect(facts.has('Cost')).toBe(false);
    expect(await panel.getByRole('alert').textContent()).toMatch(/^\w+ .+/);
    expect(await panel.locator('.job').textContent()).toContain('failed');
  });

  test('BILL-8 a canceled request stops in the page, and the next one works', async () => {
    const page = program.page();
    const panel = await openMode(page, 'Images');
    await panel.locator('[name=prompt]').fill('A lighthouse [[delay 4000]]');
    await panel.getByRole('button', { name: 'Send' }).click();
    await panel.locator('.answer.waiting').waitFor();
    await panel.getByRole('button', { name: 'Stop' }).click();
    await panel.locator('.answer.stopped').waitFor();
    expect((await readFacts(page)).get('State')).toContain('stopped');
    expect((await askInPlayground(page, 'A lighthouse')).get('State')).toBe('done');
  });

  test('VID-3 a canceled video is no longer polled', async () => {
    const page = program.page();
    const panel = await openMode(page, 'Video');
    await panel.locator('[name=prompt]').fill('A boat [[takes 60000]]');
    await panel.getByRole('button', { name: 'Send' }).click();
    await panel.locator('.job').waitFor();
    await panel.getByRole('button', { name: 'Stop' }).click();
    await panel.locator('.answer.stopped').waitFor();
    const polls: string[] = [];
    page.on('request', (request) => polls.push(request.url()));
    await page.waitForTimeout(1_500);
    expect(polls.filter((polled) => polled.includes('/v1/videos'))).toEqual([]);
  });

  test('ERR-1 an error shows the message and the code of the gateway', async () => {
    const page = program.page();
    const panel = await openMode(page, 'Speech');
    await page.getByLabel('API key', { exact: true }).fill('sk-service-wrong');
    const facts = await askInPlayground(page, 'Good morning');
    expect([facts.get('State'), facts.get('Status')]).toEqual(['failed', '401']);
    const response = await fetch(`${program.url()}/v1/audio/speech`, {
      method: 'POST',
      headers: { authorization: 'Bearer sk-service-wrong' },
    });
    const { error } = await response.json();
    expect(await panel.getByRole('alert').textContent()).toBe(`${error.code} ${error.message}`);
  });

  test('a mode keeps its form and its response while another one is shown', async () => {
    const page = program.page();
    await askInPlayground(page, 'The first mode');
    await openMode(page, 'Speech');
    await page.keyboard.press('ArrowRight');
    expect(await page.getByRole('tab', { selected: true }).textContent()).toBe('Video');
    await page.keyboard.press('Home');
    const panel = page.getByRole('tabpanel', { name: 'Chat' });
    expect(await panel.locator('[name=prompt]').inputValue()).toBe('The first mode');
    expect(await panel.locator('.answer-text').textContent()).toContain('The first mode');
  });

  test('no mode scrolls sideways on a phone', async () => {
    const page = program.page();
    await page.setViewportSize({ width: 390, height: 844 });
    for (const mode of ['Chat', 'Responses', 'Images', 'Speech']) {
      await openMode(page, mode);
      await askInPlayground(page, 'A lighthouse');
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
    }
  });
});
