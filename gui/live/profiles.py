"""The profiles of the live page: one is in use at a time, clean or named. Named profiles are kept."""

from PySide6.QtCore import QObject, QStandardPaths, Signal
from PySide6.QtWebEngineCore import QWebEngineDownloadRequest, QWebEngineProfile, QWebEngineSettings

from core.browser.host import profile_folder


class PageProfiles(QObject):
    """Creates profiles, and deletes those that are no longer needed."""

    download_requested = Signal(QWebEngineDownloadRequest)

    def __init__(self, folder: str = "", parent: QObject | None = None) -> None:
        super().__init__(parent)
        data = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.AppDataLocation)
        self.folder = folder or f"{data}/profiles"
        """The folder of the named profiles."""
        self.current: QWebEngineProfile | None = None
        self._kept: dict[str, QWebEngineProfile] = {}

    def get(self, name: str | None) -> QWebEngineProfile:
        """Return a clean profile, or the one of that name; raises UsageError for a name that cannot be used."""
        return self._named(name) if name else QWebEngineProfile(self)

    def use(self, profile: QWebEngineProfile) -> None:
        """Switch to a profile, and release the previous one, whose pages are gone."""
        old, self.current = self.current, profile
        # A link to a program, for example mail, would start it outside the window.
        unknown = QWebEngineSettings.UnknownUrlSchemePolicy.DisallowUnknownUrlSchemes
        profile.settings().setUnknownUrlSchemePolicy(unknown)
        # Permissions given by the person must not apply to the agent later.
        policy = QWebEngineProfile.PersistentPermissionsPolicy.AskEveryTime
        profile.setPersistentPermissionsPolicy(policy)
        if old is profile:
            return
        profile.downloadRequested.connect(self.download_requested)
        if old is not None:
            old.downloadRequested.disconnect(self.download_requested)
            if old not in self._kept.values():
                old.deleteLater()

    def close(self) -> list[QObject]:
        """Release all profiles and return them: when the program exits, no event loop runs that would delete them."""
        going: set[QObject] = {*self._kept.values(), *([self.current] if self.current is not None else [])}
        self.current = None
        self._kept.clear()
        for profile in going:
            profile.deleteLater()
        return list(going)

    def _named(self, name: str) -> QWebEngineProfile:
        # The engine needs a single profile object per folder, so it is kept until the program exits.
        if name not in self._kept:
            folder = str(profile_folder(self.folder, name))
            profile = QWebEngineProfile(name, self)
            profile.setPersistentStoragePath(folder)
            profile.setCachePath(f"{folder}/cache")
            profile.setPersistentCookiesPolicy(
                QWebEngineProfile.PersistentCookiesPolicy.ForcePersistentCookies
            )
            self._kept[name] = profile
        return self._kept[name]
