"""Take the README's picture of the inbox: picture.py URL NAME PASSWORD FILE."""

import sys
from shutil import which

from playwright.sync_api import sync_playwright


def take(url: str, name: str, password: str, file: str) -> None:
    """Sign in, open the newest answer, and keep what the page shows."""
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=which("chromium"), args=["--no-sandbox", "--hide-scrollbars"]
        )
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(url)
        page.get_by_label("Name").fill(name)
        page.get_by_label("Password").fill(password)
        page.get_by_role("button", name="Sign in").click()
        rows = page.get_by_role("region", name="Messages").get_by_role("link")
        rows.filter(has_text="Re:").first.click()
        page.locator("article.message").wait_for()
        page.wait_for_timeout(1000)
        page.screenshot(path=file)
        browser.close()


if __name__ == "__main__":
    take(*sys.argv[1:5])
