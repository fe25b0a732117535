// SPDX-License-Identifier: GPL-2.0-only
/* Draws each section that the page has. What fails is said in the page. */

function showFailure(error) {
	const line = element('p', {class: 'warning', role: 'alert'},
		'The pictures cannot be drawn here: ' + error.message);
	document.getElementById('answer').append(line);
}

async function main() {
	const script = document.getElementById('data');
	const views = {functions: tableView, image: imageView, time: timeView, threads: threadsView,
		flame: flameView};
	if (!script)
		return;
	const page = makePage(await readData(script));
	for (const [id, view] of Object.entries(views)) {
		const section = document.getElementById(id);
		if (section)
			view(section, page);
	}
	page.on('range', () => {
		document.documentElement.dataset.range = page.from + ',' + page.to;
	});
	matchMedia('(prefers-color-scheme: dark)').addEventListener('change',
		() => page.tell('scheme'));
	document.documentElement.dataset.ready = 'yes';
}

main().catch(showFailure);
